/** A DNS server on a free loopback port, with the records that a test sets. */
import { createServer, Packet } from 'dns2';

export type DnsRecordType = 'A' | 'AAAA' | 'CNAME' | 'TXT';

export interface DnsOptions {
  /** Whether answers include the records of a CNAME's target, as those of recursive servers do. */
  readonly recursive?: boolean;
  /** A record of every name without records. If absent, such names do not exist. */
  readonly defaultAddress?: string;
}

export interface DnsServer extends AsyncDisposable {
  /** "127.0.0.1:PORT", UDP. */
  readonly address: string;
  readonly port: number;
  /** "TYPE name" of each query so far. */
  readonly asked: readonly string[];
  /** Replaces the records of this type. A TXT record may be given as its strings. */
  set(name: string, type: DnsRecordType, values: readonly (string | readonly string[])[]): void;
  /** Answers questions about the name with SERVFAIL until `set`. */
  fail(name: string): void;
}

type Resource = Packet['answers'][number];

const TTL_SECONDS = 300;

const dataOf = (type: DnsRecordType, value: string | readonly string[]) => {
  switch (type) {
    case 'A':
    case 'AAAA':
      return { address: value };
    case 'CNAME':
      return { domain: value };
    case 'TXT':
      return { data: value };
  }
};

export const startDns = async (options: DnsOptions = {}): Promise<DnsServer> => {
  const records = new Map<string, Map<DnsRecordType, readonly (string | readonly string[])[]>>();
  const failing = new Set<string>();
  const asked: string[] = [];

  const answersTo = (name: string, type: number): Resource[] => {
    const kept = records.get(name);
    const of = (wanted: DnsRecordType): Resource[] =>
      (kept?.get(wanted) ?? []).map(
        (value) =>
          ({
            name,
            type: Packet.TYPE[wanted],
            class: Packet.CLASS.IN,
            ttl: TTL_SECONDS,
            ...dataOf(wanted, value),
          }) as unknown as Resource, // The types of dns2 have one variant per kind of record.
      );
    if (kept === undefined && options.defaultAddress !== undefined && type === Packet.TYPE.A)
      return [
        {
          name,
          type,
          class: Packet.CLASS.IN,
          ttl: TTL_SECONDS,
          address: options.defaultAddress,
        } as Resource,
      ];
    const wanted = (['A', 'AAAA', 'CNAME', 'TXT'] as const).find(
      (one) => Packet.TYPE[one] === type,
    );
    const direct = wanted === undefined ? [] : of(wanted);
    const [alias] = kept?.get('CNAME') ?? [];
    if (direct.length > 0 || typeof alias !== 'string') return direct;
    return [...of('CNAME'), ...(options.recursive === true ? answersTo(alias, type) : [])];
  };

  const server = createServer({
    udp: true,
    handle: (request, send) => {
      const response = Packet.createResponseFromRequest(request);
      const [question] = request.questions;
      const name = String(question?.name).toLowerCase();
      const type = Number(question?.type);
      const typeName = Object.entries(Packet.TYPE).find(([, number]) => number === type)?.[0];
      asked.push(`${typeName} ${name}`);
      if (failing.has(name)) response.header.rcode = Packet.RCODE.SERVFAIL;
      else {
        response.answers = answersTo(name, type);
        const isKnown = records.has(name) || options.defaultAddress !== undefined;
        if (!isKnown) response.header.rcode = Packet.RCODE.NXDOMAIN;
      }
      void send(response);
    },
  });
  const { udp } = await server.listen({ udp: { port: 0, address: '127.0.0.1' } });
  const port = (udp as { port: number }).port;
  return {
    address: `127.0.0.1:${port}`,
    port,
    asked,
    set: (name, type, values) => {
      failing.delete(name);
      const kept = records.get(name) ?? new Map();
      records.set(name, kept.set(type, values));
    },
    fail: (name) => {
      failing.add(name);
    },
    [Symbol.asyncDispose]: async () => {
      await server.close();
    },
  };
};
