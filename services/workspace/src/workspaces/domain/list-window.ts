export interface ListWindow {
  readonly limit: number;
  readonly offset: number;
  /** To be read in the reverse order, and turned round. */
  readonly isFromEnd: boolean;
}

/** Where a page is read: those of the second half from the end, where they are nearer. */
export const decideWindow = (
  { number, size }: { readonly number: number; readonly size: number },
  totalCount: number,
): ListWindow => {
  const start = (number - 1) * size;
  const limit = Math.min(size, totalCount - start);
  const isFromEnd = start > totalCount / 2;
  return { limit, offset: isFromEnd ? totalCount - start - limit : start, isFromEnd };
};
