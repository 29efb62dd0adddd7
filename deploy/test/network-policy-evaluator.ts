/**
 * Evaluates NetworkPolicies by the rules of networking.k8s.io/v1: a pod that no policy of a direction selects
 * is open in it; else one rule of one such policy has to fit; and both ends have to let a connection through. A block
 * of addresses also fits the pods in it, as most networks have it.
 *
 * No network of a cluster runs in the tests, so that this is as far as they prove the policies.
 */
import { BlockList, isIPv6 } from 'node:net';

type Labels = Readonly<Record<string, string>>;

interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values?: readonly string[];
  }[];
}

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly {
    readonly port?: number | string;
    readonly endPort?: number;
    readonly protocol?: string;
  }[];
}

export interface NetworkPolicy {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: {
    readonly podSelector: Selector;
    readonly policyTypes?: readonly ('Ingress' | 'Egress')[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
}

/** A pod, or an address outside of the cluster, which has neither namespace nor labels. */
export interface Endpoint {
  readonly name: string;
  readonly address: string;
  readonly namespace?: string;
  readonly labels?: Labels;
  /** Ports of its containers by name. */
  readonly ports?: Readonly<Record<string, number>>;
}

export interface Connection {
  readonly from: Endpoint;
  readonly to: Endpoint;
  readonly port: number;
  readonly protocol?: string;
}

const selects = ({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, operator, values = [] }) => {
    const value = labels[key];
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
    }
  });

const contains = (cidr: string, address: string): boolean => {
  const [network = '', length] = cidr.split('/');
  if (isIPv6(network) !== isIPv6(address)) return false;
  const family = isIPv6(network) ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(network, Number(length), family);
  return list.check(address, family);
};

/** Namespaces carry their name as a label. */
const labelsOfNamespace = (name: string): Labels => ({ 'kubernetes.io/metadata.name': name });

const fitsPeer = (
  { podSelector, namespaceSelector, ipBlock }: Peer,
  namespace: string,
  endpoint: Endpoint,
): boolean => {
  if (ipBlock !== undefined)
    return (
      contains(ipBlock.cidr, endpoint.address) &&
      !(ipBlock.except ?? []).some((cidr) => contains(cidr, endpoint.address))
    );
  if (endpoint.namespace === undefined) return false;
  const isNamespace =
    namespaceSelector === undefined
      ? endpoint.namespace === namespace
      : selects(namespaceSelector, labelsOfNamespace(endpoint.namespace));
  return isNamespace && selects(podSelector ?? {}, endpoint.labels ?? {});
};

const fitsPort = ({ ports }: Rule, { to, port, protocol = 'TCP' }: Connection): boolean =>
  ports === undefined ||
  ports.some((allowed) => {
    if ((allowed.protocol ?? 'TCP') !== protocol) return false;
    if (allowed.port === undefined) return true;
    if (typeof allowed.port === 'string') return to.ports?.[allowed.port] === port;
    return port >= allowed.port && port <= (allowed.endPort ?? allowed.port);
  });

const lets = (
  policies: readonly NetworkPolicy[],
  direction: 'Ingress' | 'Egress',
  connection: Connection,
): boolean => {
  const [own, other] =
    direction === 'Ingress' ? [connection.to, connection.from] : [connection.from, connection.to];
  const selecting = policies.filter(({ metadata, spec }) => {
    const types = spec.policyTypes ?? ['Ingress', ...(spec.egress ? ['Egress'] : [])];
    return (
      types.includes(direction) &&
      metadata.namespace === own.namespace &&
      own.namespace !== undefined &&
      selects(spec.podSelector, own.labels ?? {})
    );
  });
  if (selecting.length === 0) return true;
  return selecting.some(({ metadata, spec }) =>
    ((direction === 'Ingress' ? spec.ingress : spec.egress) ?? []).some((rule) => {
      const peers = direction === 'Ingress' ? rule.from : rule.to;
      const isPeer =
        peers === undefined ||
        peers.length === 0 ||
        peers.some((peer) => fitsPeer(peer, metadata.namespace ?? '', other));
      return isPeer && fitsPort(rule, connection);
    }),
  );
};

/** @returns whether the policies of both ends let a connection through */
export const isLetThrough = (policies: readonly NetworkPolicy[], connection: Connection): boolean =>
  lets(policies, 'Egress', connection) && lets(policies, 'Ingress', connection);
