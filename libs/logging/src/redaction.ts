/**
 * Removes secrets from a finished log line. Working on the line instead of the logged object also finds
 * secrets inside a message, a stack or a nested error.
 */

export const REDACTED = '[redacted]';

/** Fields whose values are always secret. The names are those in the JSON. */
const SECRET_FIELD =
  /"((?:[\w-]*[_-])?(?:token|tokens|secret|password|passphrase|authorization|cookie|set-cookie|private_key|privateKey|unseal_keys?|secret_key|service_key|serviceKey|salt|client_secret)|key|keys|keys_base64|recovery_keys|[a-z]+Token)":(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\])/gi;

/** Patterns of secrets that may occur anywhere. The line ends of a PEM block are escaped inside JSON. */
// oxlint-disable-next-line keelson/linear-expressions -- too long for a literal; judged as a whole
const SECRET_SHAPE = new RegExp(
  [
    '-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|(?="[,}])|$)',
    String.raw`\b(?:hv[sbr])\.[\w.-]{8,}`,
    String.raw`\b\w+\.atlasv1\.\w+`,
    // Signature of a signed URL: in the query, or after its expiry time.
    String.raw`(?<=[?&]signature=)[\w%-]+`,
    String.raw`(?<=/(?:uploads|downloads)/[^\s"?]{1,256}/\d{10}/)[\w%-]+`,
    String.raw`(?<=\b(?:Bearer|Basic) )[\w.~+/=-]{4,}`,
    // user:password@ in a connection string.
    String.raw`(?<=\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@"]{0,128}:)[^\s@"/]+(?=@)`,
  ].join('|'),
  'gs',
);

// Cheap checks that run first, because every request writes a line and few lines match. Each finds part of
// whatever the expression above it finds, at a tenth of its cost.
const SECRET_FIELD_HINT = /token|secret|password|passphrase|authorization|cookie|key|salt/i;
const SECRET_SHAPE_HINT =
  /PRIVATE KEY-----|hv[sbr]\.|\.atlasv1\.|Bearer |Basic |:\/\/|signature=|loads\//;

/** The line without secrets. */
export const redactLine = (line: string): string => {
  const withoutFields = SECRET_FIELD_HINT.test(line)
    ? line.replaceAll(SECRET_FIELD, (_whole, name: string) => `"${name}":"${REDACTED}"`)
    : line;
  return SECRET_SHAPE_HINT.test(withoutFields)
    ? withoutFields.replaceAll(SECRET_SHAPE, REDACTED)
    : withoutFields;
};
