/** Parts that requests about variable sets have in common. */

/** Error text for stacks, which are not supported. */
export const NO_STACKS =
  'there are no stacks here; apply the variable set to workspaces or projects';

/** The ids in a list of identifiers, without duplicates. */
export const toIds = (list: {
  readonly data: readonly { readonly id: string }[];
}): readonly string[] => [...new Set(list.data.map(({ id }) => id))];
