/** The ways in which `parameters-alone.integration.test.ts` calls operations. */
import type { Document, SysHarness } from './sys-harness.ts';

export type Body = Readonly<Record<string, unknown>>;
/** Texts that the preparation found: ids, tokens, shares. `serial` is a name that nothing else has. */
export type Found = Readonly<Record<string, string>> & { readonly serial: string };

export interface Place {
  readonly cluster: SysHarness;
  /** A root token, except where it is the subject of the request. */
  readonly token: string;
  readonly close?: () => Promise<void>;
}

/** A value that must be noticed, and the other parameters that it needs. */
export interface Telling {
  readonly telling: unknown;
  readonly beside?: Body;
}

/** One way to call operations. */
export interface Way {
  readonly route: RegExp;
  /** A cluster of its own for each request; one is shared when omitted. */
  readonly open?: (route: string) => Promise<Place>;
  readonly prepare?: (place: Place, serial: string) => Promise<Readonly<Record<string, string>>>;
  readonly at?: (path: string, found: Found) => string;
  readonly least?: (found: Found) => Body;
  readonly values?: (found: Found) => Readonly<Record<string, unknown>>;
  /** The effect of the request, read afterwards; the answer when omitted or undefined. */
  readonly observe?: (
    place: Place,
    path: string,
    answer: Document,
    found: Found,
  ) => Promise<Document>;
  /** The token of the request, where it is not that of the place. */
  readonly as?: (found: Found) => string;
  /** Parameters without an effect, and the reason; a text if all requests are refused. */
  readonly without?: string | Readonly<Record<string, string>>;
}

/** The answer of a request that must succeed. */
export const post = async (
  { cluster }: Place,
  path: string,
  body: Body = {},
): Promise<Document> => {
  const answer = await cluster.asRoot('POST', path, { body });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.body.errors}`);
  return answer.body;
};

/** The data at a path; none if nothing is there. */
export const dataAt = async ({ cluster }: Place, path: string): Promise<Document> =>
  (await cluster.asRoot('GET', path)).body.data ?? {};
