/** `/api/v2` of a server, Keelson or another one. */
import type { Document } from '../client/api-client.ts';
import { PacedServer, unlessAbsent } from '../importing/paced-server.ts';

const MEDIA_TYPE = 'application/vnd.api+json';
const PAGE_SIZE = 100;

export interface WorkspaceServer {
  readonly address: string;
  readonly token: string;
}

export class WorkspaceApi {
  readonly #server: PacedServer;

  constructor({ address, token }: WorkspaceServer) {
    this.#server = new PacedServer(new URL('/api/v2/', address), {
      accept: `${MEDIA_TYPE}, */*`,
      authorization: `Bearer ${token}`,
    });
  }

  async get(path: string): Promise<Document> {
    return (await this.#server.call(path)).json();
  }

  /** undefined if there is no such resource, or the token may not see it. */
  find(path: string): Promise<Document> {
    return unlessAbsent(this.get(path));
  }

  /** The resources on all pages of a list; none if the server has no such list. */
  async list(path: string): Promise<readonly Document[]> {
    const found: Document[] = [];
    const separator = path.includes('?') ? '&' : '?';
    for (let page: number | null = 1; page !== null; ) {
      const answer: Document = await this.find(
        `${path}${separator}page[size]=${PAGE_SIZE}&page[number]=${page}`,
      );
      found.push(...(answer?.data ?? []));
      // Lists without pages have no `meta`.
      page = answer?.meta?.pagination?.['next-page'] ?? null;
    }
    return found;
  }

  /** @returns the document, undefined if the answer has none */
  async send(method: 'POST' | 'PATCH', path: string, body: object): Promise<Document> {
    const request = { method, body: JSON.stringify(body), contentType: MEDIA_TYPE };
    const text = await (await this.#server.call(path, request)).text();
    return text === '' ? undefined : JSON.parse(text);
  }

  /** @param url signed, of this server or of the store that it uses */
  async download(url: string): Promise<Buffer<ArrayBuffer>> {
    return Buffer.from(await (await this.#server.call(url)).arrayBuffer());
  }

  /** @param url signed, of this server, which may know itself by another address */
  async upload(url: string, body: Buffer<ArrayBuffer>): Promise<void> {
    const { pathname, search } = new URL(url);
    const contentType = 'application/octet-stream';
    await this.#server.call(`${pathname}${search}`, { method: 'PUT', body, contentType });
  }
}
