/** Names of groups in their distinguished names (RFC 4514). */

const PARTS = /(?:\\.|[^\\,])+/gsu;
const PART = /^\s*([\w.-]+)\s*=\s*((?:\\.|[^\\+])*)/su;
const ESCAPED = /(?:\\[0-9a-f]{2})+|\\(.)/giu;

const unescape = (value: string): string =>
  value.replace(ESCAPED, (whole, character?: string) =>
    character === undefined ? Buffer.from(whole.replaceAll('\\', ''), 'hex').toString() : character,
  );

/** The first common name in a distinguished name; the text itself if it is none, or has none. */
export const commonNameOf = (text: string): string => {
  const parts = [...text.matchAll(PARTS)].map(([part]) => PART.exec(part));
  if (parts.includes(null)) return text;
  const found = parts.find((part) => part?.[1]?.toLowerCase() === 'cn');
  return found?.[2] === undefined ? text : unescape(found[2].trim());
};
