/** A prefix of lease ids that ends with a slash; "" for all leases. Empty segments are dropped. */
export const withSlash = (prefix: string): string => {
  const path = prefix.split('/').filter((segment) => segment !== '');
  return path.length === 0 ? '' : `${path.join('/')}/`;
};
