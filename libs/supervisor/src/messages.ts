/** Messages between a supervisor and its worker, each one line of JSON. */

/** On the worker's standard output. */
export type FromWorker =
  | { readonly kind: 'question'; readonly id: number; readonly question: unknown }
  | { readonly kind: 'result'; readonly result: unknown };

/** On the worker's standard input. */
export type ToWorker =
  | { readonly kind: 'task'; readonly task: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  /** The supervisor does not answer this, and says why. */
  | { readonly kind: 'refusal'; readonly id: number; readonly reason: string };

export const toLine = (message: FromWorker | ToWorker): string => `${JSON.stringify(message)}\n`;
