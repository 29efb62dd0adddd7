/**
 * Audit entries: request, caller and answer, with every secret replaced by an HMAC under the device's key. Text values are secrets unless their key is listed as plain; numbers, booleans
 * and structure stay readable, so that entries can be searched.
 */
import { createHmac } from 'node:crypto';
import { hideDocument, type Json } from './readable-names.ts';

export interface AuditedCaller {
  readonly accessor: string;
  /** The token itself, whose HMAC `sys/audit-hash` gives to whoever knows it; empty for callers of /api/v2. */
  readonly token: string;
  /** As the token is stored; it stands for the token where values are recorded in plain text. */
  readonly tokenHash: string;
  readonly displayName: string;
  readonly policies: readonly string[];
  readonly entityId: string;
  readonly tokenType: string;
  /** Further facts about the caller of /api/v2: its organization, the id of its token. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** One exchange in plain text. It never leaves this process in this form. */
export interface AuditedExchange {
  readonly requestId: string;
  readonly operation: string;
  readonly path: string;
  readonly remoteAddress: string;
  readonly namespace: { readonly id: string; readonly path: string };
  readonly mountType: string;
  readonly mountAccessor: string;
  readonly caller: AuditedCaller | undefined;
  readonly data: Json | undefined;
  /** Whether bodies and answers are JSON:API documents. */
  readonly isJsonApi: boolean;
  readonly plainRequestKeys: readonly string[];
  readonly plainResponseKeys: readonly string[];
}

export interface AuditedAnswer {
  readonly status: number;
  readonly data: Json | undefined;
  readonly error: string;
}

export interface EntryRules {
  readonly key: Uint8Array;
  /** Whether values are recorded in plain text; for debugging only. */
  readonly isRaw: boolean;
  readonly hidesAccessors: boolean;
  readonly elidesLists: boolean;
}

type Hide = (text: string) => string;

const hider = ({ key, isRaw }: EntryRules): Hide =>
  isRaw
    ? (text) => text
    : (text) =>
        text === '' ? '' : `hmac-sha256:${createHmac('sha256', key).update(text).digest('hex')}`;

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const hideValues = (value: Json, hide: Hide, plain: ReadonlySet<string>): Json => {
  if (typeof value === 'string') return hide(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: Json) => hideValues(item, hide, plain));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      plain.has(key) ? item : hideValues(item, hide, plain),
    ]),
  );
};

/** Data of a request or an answer without its secrets. */
const hideData = (
  { isJsonApi }: AuditedExchange,
  data: Json,
  hide: Hide,
  plain: readonly string[],
): Json => {
  const hideAll = (value: Json): Json => hideValues(value, hide, new Set(plain));
  return isJsonApi ? hideDocument(data, hideAll) : hideAll(data);
};

/** Members of a document of /v1 that the entry states in plain text elsewhere. */
const withPlainEnvelope = (
  data: Json | undefined,
  hidden: Json,
  { requestId, mountType }: AuditedExchange,
): Json => {
  if (data === undefined || !isObject(data) || !isObject(hidden)) return hidden;
  return {
    ...hidden,
    ...(data['request_id'] === requestId ? { request_id: requestId } : {}),
    ...(mountType !== '' && data['mount_type'] === mountType ? { mount_type: mountType } : {}),
  };
};

/** Replaces a list of keys by its length. */
const elide = (data: Json | undefined): Json | undefined => {
  if (data === undefined || data === null || typeof data !== 'object' || Array.isArray(data))
    return data;
  return Object.fromEntries(
    Object.entries(data as Record<string, Json>).map(([name, value]) => {
      if ((name === 'keys' && Array.isArray(value)) || name === 'key_info')
        return [name, Object.keys(value as object).length];
      return [name, name === 'data' ? (elide(value) ?? null) : value];
    }),
  );
};

const authOf = (caller: AuditedCaller | undefined, hide: Hide, rules: EntryRules): Json =>
  caller === undefined
    ? null
    : {
        client_token: rules.isRaw ? caller.tokenHash : hide(caller.token),
        accessor: rules.hidesAccessors ? hide(caller.accessor) : caller.accessor,
        display_name: caller.displayName,
        policies: caller.policies,
        entity_id: caller.entityId,
        token_type: caller.tokenType,
        ...(caller.metadata && { metadata: caller.metadata }),
      };

const requestOf = (exchange: AuditedExchange, hide: Hide): Json => ({
  id: exchange.requestId,
  operation: exchange.operation,
  namespace: exchange.namespace,
  path: exchange.path,
  mount_type: exchange.mountType,
  mount_accessor: exchange.mountAccessor,
  remote_address: exchange.remoteAddress,
  data:
    exchange.data === undefined
      ? null
      : hideData(exchange, exchange.data, hide, exchange.plainRequestKeys),
});

/** The entry written before a request is served. */
export const buildRequestEntry = (
  exchange: AuditedExchange,
  rules: EntryRules,
  time: string,
): Json => {
  const hide = hider(rules);
  return {
    time,
    type: 'request',
    auth: authOf(exchange.caller, hide, rules),
    request: requestOf(exchange, hide),
  };
};

const warningsIn = (document: Json | undefined): readonly Json[] => {
  if (document === undefined || document === null || typeof document !== 'object') return [];
  const { warnings, meta } = document as { readonly warnings?: Json; readonly meta?: Json };
  return Array.isArray(warnings) ? warnings : warningsIn(meta);
};

/**
 * The entry written before the answer is given. Warnings stay readable: they are sentences of the
 * server about settings and their effect (/v1 `warnings`, /api/v2 `meta.warnings`).
 */
export const buildResponseEntry = (
  exchange: AuditedExchange,
  answer: AuditedAnswer,
  rules: EntryRules,
  time: string,
): Json => {
  const hide = hider(rules);
  const isList = exchange.operation === 'list';
  const data = isList && rules.elidesLists ? elide(answer.data) : answer.data;
  const warnings = warningsIn(answer.data);
  return {
    time,
    type: 'response',
    auth: authOf(exchange.caller, hide, rules),
    request: requestOf(exchange, hide),
    response: {
      status: answer.status,
      mount_type: exchange.mountType,
      mount_accessor: exchange.mountAccessor,
      data:
        data === undefined
          ? null
          : withPlainEnvelope(
              data,
              hideData(exchange, data, hide, exchange.plainResponseKeys),
              exchange,
            ),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
    error: answer.error,
  };
};
