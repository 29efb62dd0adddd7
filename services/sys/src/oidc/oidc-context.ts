import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import type { TokenContext } from '../tokens/token-context.ts';

/** Dependencies of the operations of the provider. */
export interface OidcContext extends TokenContext {
  readonly namespaces: () => Promise<NamespaceTable>;
  /** Scheme and authority of this cluster for others; undefined if it has none. */
  readonly publicUrl: string | undefined;
}

/** The namespace of a request. */
export interface Place {
  readonly id: string;
  /** Ends with a slash, or is "". */
  readonly path: string;
}
