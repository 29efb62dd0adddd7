/** A namespace and those above it, from the innermost to the root, which is "". */
export const withThoseAbove = (namespace: string): readonly string[] => {
  const parts = namespace.split('/').filter((part) => part !== '');
  return [...parts.map((_, at) => parts.slice(0, parts.length - at).join('/')), ''];
};
