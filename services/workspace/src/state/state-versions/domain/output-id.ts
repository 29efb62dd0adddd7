/**
 * An output has no record; its id is composed of its state version's id and its position there.
 */
const SHAPE = /^wsout-([1-9A-HJ-NP-Za-km-z]{16})([0-9a-f]{4})$/;

export const toOutputId = (stateVersionId: string, index: number): string =>
  `wsout-${stateVersionId.slice('sv-'.length)}${index.toString(16).padStart(4, '0')}`;

export const toOutputIds = (stateVersionId: string | null, count: number): readonly string[] =>
  stateVersionId === null
    ? []
    : Array.from({ length: count }, (_, index) => toOutputId(stateVersionId, index));

export const parseOutputId = (
  id: string,
): { readonly stateVersionId: string; readonly index: number } | undefined => {
  const [, random, index] = SHAPE.exec(id) ?? [];
  if (random === undefined || index === undefined) return undefined;
  return { stateVersionId: `sv-${random}`, index: Number.parseInt(index, 16) };
};
