/** The part of autocannon's interface that is used; the package ships no types. */
declare module 'autocannon' {
  interface Request {
    readonly method: 'GET' | 'POST';
    readonly path: string;
    /** Called before each is sent. */
    readonly setupRequest?: (request: Request) => Request;
  }
  interface Options {
    readonly url: string;
    readonly connections: number;
    /** Seconds without an answer after which a request has failed. */
    readonly timeout?: number;
    /** Seconds; ignored if `amount` is set. */
    readonly duration?: number;
    /** Number of requests. */
    readonly amount?: number;
    readonly method?: 'GET' | 'POST';
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: Buffer;
    /** Sent in turn by each connection. */
    readonly requests?: readonly Request[];
  }
  interface Result {
    /** Seconds. */
    readonly duration: number;
    readonly errors: number;
    readonly '2xx': number;
    readonly non2xx: number;
    readonly requests: { readonly total: number };
  }
  const autocannon: (options: Options) => Promise<Result>;
  export default autocannon;
}
