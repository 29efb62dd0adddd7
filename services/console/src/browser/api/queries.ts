/** The cache of API reads, and the actions that invalidate it. */
import {
  type InfiniteData,
  keepPreviousData,
  MutationCache,
  QueryClient,
  type QueryKey,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useRef } from 'react';
import { ApiProblem } from './api-problem.ts';
import { useWatch } from './live-channel.ts';
import { notify } from './notices.ts';
import { callSecrets, type Listed, listKeys, readData } from './secrets-api.ts';
import { useSession } from './session.ts';
import { callWorkspaces, findDocument } from './workspaces-api.ts';

const STALE_MS = 10_000;
/** Status of the rate limit of `/api/v2`, which resets within a second. */
const BUSY_STATUS = 429;

export const createQueryClient = (): QueryClient => {
  const client: QueryClient = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        retry: (count, error) =>
          count < 3 && error instanceof ApiProblem && error.status === BUSY_STATUS,
      },
    },
    // Any page may show the changed data.
    mutationCache: new MutationCache({ onSuccess: () => void client.invalidateQueries() }),
  });
  return client;
};

export interface ReadOptions<Value = unknown> {
  /** Polling interval while the page is visible; a function derives it from the latest data. */
  readonly everyMs?: number | undefined | ((value: Value | undefined) => number | undefined);
  /** Whether the live channel reports changes; `everyMs` applies while there is no channel. */
  readonly isLive?: boolean;
  /** False disables the query. */
  readonly enabled?: boolean;
  /** Keeps showing the last value while another page or selection loads. */
  readonly keepPrevious?: boolean;
}

const intervalOf = <Value>(
  { everyMs }: ReadOptions<Value>,
  value: Value | undefined,
): number | undefined => (typeof everyMs === 'function' ? everyMs(value) : everyMs);

interface ReadFunction<Value> {
  readonly key: QueryKey;
  readonly read: (signal: AbortSignal) => Promise<Value>;
  /** Path and query that the live channel watches, and the value in its answer. */
  readonly live?: { readonly address: string; readonly valueOf: (document: unknown) => Value };
}

/** A read that is cached by its key, and polled or watched while it is shown. */
const useRead = <Value>(
  { key, read, live }: ReadFunction<Value>,
  options: ReadOptions<Value>,
): UseQueryResult<Value> => {
  const client = useQueryClient();
  const { enabled, keepPrevious, isLive = false } = options;
  const isWatched =
    isLive &&
    enabled !== false &&
    intervalOf(options, client.getQueryData<Value>(key)) !== undefined;
  const isReported = useWatch(isWatched ? live?.address : undefined, (status, text) => {
    if (status === 200 && text !== undefined && live !== undefined)
      client.setQueryData(key, live.valueOf(JSON.parse(text)));
    else void client.invalidateQueries({ queryKey: key });
  });
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => read(signal),
    refetchInterval: ({ state }) =>
      (!isReported && intervalOf(options, state.data as Value | undefined)) || false,
    ...(enabled !== undefined && { enabled }),
    ...(keepPrevious === true && { placeholderData: keepPreviousData }),
  }) as UseQueryResult<Value>;
};

/** `data` of a GET below `/v1/`; null if nothing exists there. */
export const useSecret = <Data>(
  path: string,
  options: ReadOptions<Data | null> & { readonly namespace?: string } = {},
): UseQueryResult<Data | null> => {
  const { namespace, secrets } = useSession();
  const at = options.namespace ?? namespace;
  return useRead<Data | null>(
    {
      key: ['secrets', secrets, at, path],
      read: async (signal) => (await readData<Data>(path, { signal, namespace: at })) ?? null,
      ...(secrets !== undefined && {
        live: {
          address: `/v1/${at === '' ? '' : `${at}/`}${path}`,
          valueOf: (document: unknown) => (document as { data?: Data }).data ?? null,
        },
      }),
    },
    options,
  );
};

/** Keys of a LIST below `/v1/`. */
export const useSecretList = <Info = unknown>(
  path: string,
  options: ReadOptions<Listed<Info>> = {},
): UseQueryResult<Listed<Info>> => {
  const { namespace, secrets } = useSession();
  return useRead(
    {
      key: ['secret-list', secrets, namespace, path],
      read: (signal) => listKeys<Info>(path, { signal }),
    },
    options,
  );
};

/**
 * Keys of a LIST below `/v1/` that is read page by page, the first at once and others by
 * `fetchNextPage`.
 * @param path with a query, to which the page is added
 */
export const useSecretPages = <Info>(
  path: string,
  pageSize: number,
): UseInfiniteQueryResult<InfiniteData<Listed<Info>>> => {
  const { namespace, secrets } = useSession();
  return useInfiniteQuery({
    queryKey: ['secret-pages', secrets, namespace, path, pageSize],
    initialPageParam: '',
    queryFn: ({ signal, pageParam }) =>
      listKeys<Info>(`${path}&limit=${pageSize}&after=${encodeURIComponent(pageParam)}`, {
        signal,
      }),
    getNextPageParam: ({ keys }) => (keys.length === pageSize ? keys.at(-1) : undefined),
    placeholderData: keepPreviousData,
  });
};

/** A document below `/api/v2/`. */
export const useDocument = <Document>(
  path: string,
  options: ReadOptions<Document> = {},
): UseQueryResult<Document> => {
  const { workspaces } = useSession();
  return useRead(
    {
      key: ['workspaces', workspaces, path],
      read: (signal) => callWorkspaces<Document>('GET', path, { signal }),
      ...(workspaces !== undefined && {
        live: { address: `/api/v2/${path}`, valueOf: (document: unknown) => document as Document },
      }),
    },
    options,
  );
};

/** A document below `/api/v2/` that may be absent; null then. */
export const useOptionalDocument = <Document>(path: string): UseQueryResult<Document | null> => {
  const { workspaces } = useSession();
  return useRead<Document | null>(
    {
      key: ['optional-document', workspaces, path],
      read: (signal) => findDocument<Document>(path, { signal }),
    },
    {},
  );
};

export interface Action<Input> {
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly run: (input: Input) => void;
  /** Forgets the error of the last attempt. */
  readonly reset: () => void;
}

/**
 * A change that is never sent twice concurrently: `run` does nothing while one is in progress.
 * @param act performs the change; afterwards all cached reads are refreshed
 * @param done a notice that the change was made; left out where the page shows it otherwise
 */
export const useAction = <Input = void, Output = unknown>(
  act: (input: Input) => Promise<Output>,
  onSuccess?: (output: Output, input: Input) => void | Promise<void>,
  done?: (output: Output) => string,
): Action<Input> => {
  // React state updates too late to stop a second click.
  const isUnderWay = useRef(false);
  const { mutate, isPending, error, reset } = useMutation<Output, Error, Input>({
    mutationFn: act,
    onSettled: () => {
      isUnderWay.current = false;
    },
    onSuccess: (output, input) => {
      if (done !== undefined) notify(done(output));
      return onSuccess?.(output, input);
    },
  });
  const run = (input: Input): void => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    mutate(input);
  };
  return { isPending, error, run, reset };
};

export type Capability = 'create' | 'read' | 'update' | 'patch' | 'delete' | 'list' | 'sudo';

/** Whether all the named capabilities are granted on a path. */
export type May = (path: string, ...capabilities: readonly Capability[]) => boolean;

type Granted = Readonly<Record<string, readonly string[]>>;

const toMay =
  (granted: Granted): May =>
  (path, ...capabilities) => {
    const own = granted[path] ?? [];
    return own.includes('root') || capabilities.every((one) => own.includes(one));
  };

/**
 * Reads the token's capabilities on these paths in several namespaces. There are none where it may not even ask.
 * @returns in the order of the namespaces; undefined for those that are not known yet
 */
export const useCapabilitiesIn = (
  namespaces: readonly string[],
  paths: readonly string[],
): readonly (May | undefined)[] => {
  const { secrets } = useSession();
  const queries = useQueries({
    queries: namespaces.map((namespace) => ({
      queryKey: ['capabilities', secrets, namespace, ...paths],
      enabled: secrets !== undefined && paths.length > 0,
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
        (
          await callSecrets<{ data: Granted }>('POST', 'sys/capabilities-self', {
            body: { paths },
            signal,
            namespace,
          })
        ).data,
    })),
  });
  return queries.map(({ data, isPending }) => (isPending ? undefined : toMay(data ?? {})));
};

/**
 * Reads the token's capabilities on these paths; pages offer only the actions that these allow.
 * @param options the namespace of the paths, if it is not that of the session
 */
export const useCapabilities = (
  paths: readonly string[],
  options: { readonly namespace?: string } = {},
): May => {
  const session = useSession();
  const [may] = useCapabilitiesIn([options.namespace ?? session.namespace], paths);
  return may ?? toMay({});
};
