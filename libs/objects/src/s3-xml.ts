/** The few XML documents of S3. Elements have no attributes that matter, and none contains itself. */

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

const unescapeXml = (text: string): string =>
  text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (all, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? all;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : all;
  });

/** The markup inside each element of this name, in order. */
export const elementsOf = (document: string, name: string): readonly string[] =>
  document
    .split(`<${name}`)
    .slice(1)
    .flatMap((rest) => {
      const start = /^(?:\s[^>]*)?>/.exec(rest)?.[0].length;
      const end = rest.indexOf(`</${name}>`);
      return start === undefined || end === -1 ? [] : [rest.slice(start, end)];
    });

/** The text of the first element of this name; undefined if the document has no such element. */
export const textOf = (document: string, name: string): string | undefined => {
  const [found] = elementsOf(document, name);
  return found === undefined ? undefined : unescapeXml(found);
};

export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
