interface Created {
  readonly id: string;
  readonly createdAtMs: number;
}

/** Compares for sorting: by time of creation, oldest first, and by id within a millisecond. */
export const byCreation = (a: Created, b: Created): number =>
  a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1);
