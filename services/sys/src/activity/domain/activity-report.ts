/** Clients by month, namespace and mount. A client is an entity, or all tokens without one that have the same policies. */

/** A client in the month in which it was first used. */
export interface ActiveClient {
  /** The id of the entity, or a digest of the namespace and the policies. */
  readonly id: string;
  readonly namespaceId: string;
  /** The mount whose token was used first. */
  readonly mountAccessor: string;
  readonly isEntity: boolean;
  readonly firstUsedMs: number;
}

export interface ActiveMonth {
  /** "2026-11" */
  readonly month: string;
  readonly clients: readonly ActiveClient[];
}

export interface Counts {
  readonly entities: number;
  readonly others: number;
}

export interface MountCounts {
  readonly accessor: string;
  readonly counts: Counts;
}

export interface NamespaceCounts {
  readonly id: string;
  readonly counts: Counts;
  /** Mounts and namespaces with the most clients come first. */
  readonly mounts: readonly MountCounts[];
}

export interface MonthReport {
  readonly month: string;
  readonly counts: Counts;
  readonly namespaces: readonly NamespaceCounts[];
  /** Clients that were in no earlier month of the period. */
  readonly fresh: { readonly counts: Counts; readonly namespaces: readonly NamespaceCounts[] };
}

export interface ActivityReport {
  readonly total: Counts;
  readonly namespaces: readonly NamespaceCounts[];
  readonly months: readonly MonthReport[];
}

export const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

const partsOf = (month: string): readonly [year: number, index: number] => [
  Number(month.slice(0, 4)),
  Number(month.slice(5)) - 1,
];

export const startOfMonth = (month: string): number => Date.UTC(...partsOf(month));

/** The month that is so many months later, or earlier. */
export const monthAfter = (month: string, months: number): string => {
  const [year, index] = partsOf(month);
  return monthOf(Date.UTC(year, index + months));
};

/** The months of a period, the first one first. */
export const monthsBetween = (first: string, last: string): readonly string[] => {
  const months: string[] = [];
  for (let month = first; month <= last; month = monthAfter(month, 1)) months.push(month);
  return months;
};

const countsOf = (clients: readonly ActiveClient[]): Counts => {
  const entities = clients.filter(({ isEntity }) => isEntity).length;
  return { entities, others: clients.length - entities };
};

export const sumOf = ({ entities, others }: Counts): number => entities + others;

const groupBy = (
  clients: readonly ActiveClient[],
  keyOf: (client: ActiveClient) => string,
): readonly (readonly [string, readonly ActiveClient[]])[] =>
  [...Map.groupBy(clients, keyOf)].sort(
    ([one, its], [other, others]) => others.length - its.length || (one < other ? -1 : 1),
  );

const byNamespace = (clients: readonly ActiveClient[]): readonly NamespaceCounts[] =>
  groupBy(clients, ({ namespaceId }) => namespaceId).map(([id, own]) => ({
    id,
    counts: countsOf(own),
    mounts: groupBy(own, ({ mountAccessor }) => mountAccessor).map(([accessor, found]) => ({
      accessor,
      counts: countsOf(found),
    })),
  }));

/** Each client as in the first of the months that it is in. */
export const distinctClients = (months: readonly ActiveMonth[]): readonly ActiveClient[] => {
  const found = new Map<string, ActiveClient>();
  for (const { clients } of months)
    for (const client of clients) if (!found.has(client.id)) found.set(client.id, client);
  return [...found.values()];
};

/** @param months in their order */
export const reportActivity = (months: readonly ActiveMonth[]): ActivityReport => {
  const known = new Set<string>();
  const reports = months.map(({ month, clients }): MonthReport => {
    const fresh = clients.filter(({ id }) => !known.has(id));
    for (const { id } of fresh) known.add(id);
    return {
      month,
      counts: countsOf(clients),
      namespaces: byNamespace(clients),
      fresh: { counts: countsOf(fresh), namespaces: byNamespace(fresh) },
    };
  });
  const all = distinctClients(months);
  return { total: countsOf(all), namespaces: byNamespace(all), months: reports };
};
