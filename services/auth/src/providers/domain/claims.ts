/** The claims of a token, and how they are compared. */

export type Claims = Readonly<Record<string, unknown>>;

/** The own member of an object; undefined for anything else. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Claims)[name]
    : undefined;

/** RFC 6901. Elements of lists are found by their index, because a list has them as its own members. */
const followPointer = (claims: Claims, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (value, token) =>
        Array.isArray(value) && token === 'length' ? undefined : memberOf(value, token),
      claims,
    );

/** A claim by its name, or by a JSON pointer, which begins with "/". Absent and null are both undefined. */
export const findClaim = (claims: Claims, claim: string): unknown =>
  (claim.startsWith('/') ? followPointer(claims, claim) : memberOf(claims, claim)) ?? undefined;
