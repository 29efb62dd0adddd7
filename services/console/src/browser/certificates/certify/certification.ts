/** The three requests by which a key of one authority gets a certificate from an issuer. */
import { callSecrets, readData } from '../../api/secrets-api.ts';

/** Parameters of a request that name the subject. */
export type Subject = Readonly<Record<string, string>>;

/** The certificate request of a key. It can be made again at any time: the engine keeps none. */
export const requestFor = async (mount: string, key: string, subject: Subject): Promise<string> => {
  const { data } = await callSecrets<{ data: { csr: string } }>(
    'POST',
    `${mount}/intermediate/cross-sign`,
    { body: { key_ref: key, ...subject } },
  );
  return data.csr;
};

/** Path at which an issuer signs authorities. */
export const signingPath = (signer: string, issuer: string): string =>
  `${signer}/issuer/${issuer}/sign-intermediate`;

/** @returns the serial number of the certificate, which the signer keeps */
export const signRequest = async (
  path: string,
  csr: string,
  limits: { readonly ttl: string; readonly max_path_length: string },
): Promise<string> => {
  const { data } = await callSecrets<{ data: { serial_number: string } }>('POST', path, {
    body: { csr, use_csr_values: true, ...limits },
  });
  return data.serial_number;
};

interface Imported {
  readonly imported_issuers: readonly string[] | null;
  readonly existing_issuers: readonly string[] | null;
}

/** @returns the id of the issuer that the first certificate has become, or was already */
export const importCertificate = async (
  mount: string,
  pems: readonly string[],
): Promise<string | undefined> => {
  const { data } = await callSecrets<{ data: Imported & { mapping: Record<string, string> } }>(
    'POST',
    `${mount}/intermediate/set-signed`,
    { body: { certificate: pems.join('\n') } },
  );
  const ids = [...(data.imported_issuers ?? []), ...(data.existing_issuers ?? [])];
  // The authorities above it have no key here.
  return ids.find((id) => data.mapping[id] !== undefined && data.mapping[id] !== '') ?? ids[0];
};

/** A signed certificate as its signer keeps it, followed by those above it. */
export const readSigned = async (
  signer: string,
  issuer: string,
  serial: string,
): Promise<readonly string[] | undefined> => {
  const found = await readData<{ certificate: string }>(`${signer}/cert/${serial}`);
  if (found === undefined) return undefined;
  const above = await readData<{ ca_chain: readonly string[] }>(`${signer}/issuer/${issuer}/json`);
  return [found.certificate, ...(above?.ca_chain ?? [])];
};
