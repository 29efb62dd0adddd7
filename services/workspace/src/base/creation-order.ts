interface Created {
  readonly id: string;
  readonly createdAtMs: number;
}

/** Compares for sorting: the oldest first, those of the same millisecond by id. */
export const byCreation = (a: Created, b: Created): number =>
  a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1);
