/** The namespace that a record belongs to: the first segment of its key. */
export const OF_NAMESPACE = { kind: 'namespace', by: '*' } as const;
