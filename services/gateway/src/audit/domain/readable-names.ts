/**
 * JSON:API documents in audit entries. An auditor needs to know which resource was created or changed: the type,
 * id and name of resources stay readable, in bodies, answers and relationships. Every other text is a secret,
 * whatever its name, so that no attribute and no value that a user gives its own members is readable.
 */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

type Members = Readonly<Record<string, Json>>;

const membersOf = (value: Json | undefined): Members | undefined =>
  value === undefined || value === null || typeof value !== 'object' || Array.isArray(value)
    ? undefined
    : (value as Members);

/** A name as resources have them. The pattern keeps a credential in the wrong place from being readable. */
const NAME = /^[\w .-]{1,128}$/;
/** Tokens and keys are long words, and names are not. */
const LONG_WORD = /[A-Za-z0-9]{40}/;

const isName = (value: Json | undefined): boolean =>
  typeof value === 'string' && NAME.test(value) && !LONG_WORD.test(value);

const keep = (members: Members, shown: readonly string[], hide: (value: Json) => Json): Members =>
  Object.fromEntries(
    Object.entries(members).map(([key, value]) => [
      key,
      shown.includes(key) && isName(value) ? value : hide(value),
    ]),
  );

const hideLinkage = (value: Json, hide: (value: Json) => Json): Json => {
  if (Array.isArray(value)) return value.map((item: Json) => hideLinkage(item, hide));
  const resource = membersOf(value);
  if (resource === undefined) return hide(value);
  const { attributes, relationships } = resource;
  const named = membersOf(attributes);
  const related = membersOf(relationships);
  return {
    ...keep(resource, ['type', 'id'], hide),
    ...(named && { attributes: keep(named, ['name', 'username'], hide) }),
    ...(related && {
      relationships: Object.fromEntries(
        Object.entries(related).map(([key, relation]) => [key, hideDocument(relation, hide)]),
      ),
    }),
  };
};

/**
 * @param hide replaces every text of a value
 * @returns the document with types, ids and names of its resources
 */
export const hideDocument = (document: Json, hide: (value: Json) => Json): Json => {
  const members = membersOf(document);
  if (members === undefined) return hide(document);
  return Object.fromEntries(
    Object.entries(members).map(([key, value]) => [
      key,
      key === 'data' || key === 'included' ? hideLinkage(value, hide) : hide(value),
    ]),
  );
};
