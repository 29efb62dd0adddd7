/** The few requests to the API server of Kubernetes that the agent makes, with the token of its service account. */
import { readFile } from 'node:fs/promises';

export interface KubernetesPlace {
  /** Without a trailing slash. */
  readonly address: string;
  /** Read for each request, because Kubernetes replaces the token in it. */
  readonly tokenFile: string;
  readonly namespace: string;
}

export interface JobStatus {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

/** A field that Kubernetes does not know, such as one of a wrong name in the template, is refused and not dropped. */
const STRICT = '?fieldValidation=Strict';

/** Less than the time for which `fetch` waits for a piece of an answer. */
const WATCH_SECONDS = 240;

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: JobStatus;
}

export class KubernetesRefused extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

export class KubernetesApi {
  readonly #place: KubernetesPlace;

  constructor(place: KubernetesPlace) {
    this.#place = place;
  }

  async #send(method: string, path: string, body?: object): Promise<Response> {
    const token = (await readFile(this.#place.tokenFile, 'utf8')).trim();
    const response = await fetch(`${this.#place.address}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    const text = (await response.text()).slice(0, 500);
    throw new KubernetesRefused(response.status, `Kubernetes: ${method} ${path}: ${text}`);
  }

  get #jobs(): string {
    return `/apis/batch/v1/namespaces/${this.#place.namespace}/jobs`;
  }

  get #secrets(): string {
    return `/api/v1/namespaces/${this.#place.namespace}/secrets`;
  }

  async createJob(job: object): Promise<JobStatus> {
    return (await (await this.#send('POST', this.#jobs + STRICT, job)).json()) as JobStatus;
  }

  async createSecret(secret: object): Promise<void> {
    await (await this.#send('POST', this.#secrets + STRICT, secret)).arrayBuffer();
  }

  /** @returns undefined if there is no such Job */
  async findJob(name: string): Promise<JobStatus | undefined> {
    try {
      return (await (await this.#send('GET', `${this.#jobs}/${name}`)).json()) as JobStatus;
    } catch (error) {
      if (error instanceof KubernetesRefused && error.status === 404) return undefined;
      throw error;
    }
  }

  /** The changes of a Job since a version of it, until the server ends the answer. */
  async *watchJob(name: string, resourceVersion: string): AsyncGenerator<WatchEvent> {
    const query = new URLSearchParams({
      watch: 'true',
      fieldSelector: `metadata.name=${name}`,
      resourceVersion,
      timeoutSeconds: String(WATCH_SECONDS),
    });
    const { body } = await this.#send('GET', `${this.#jobs}?${query.toString()}`);
    if (body === null) return;
    let rest = '';
    for await (const piece of body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as WatchEvent;
    }
  }

  /** Ends its pod too, which gets a signal. The Job is gone once the pod is. */
  async deleteJob(name: string): Promise<void> {
    await this.#delete(`${this.#jobs}/${name}`, { propagationPolicy: 'Foreground' });
  }

  async deleteSecret(name: string): Promise<void> {
    await this.#delete(`${this.#secrets}/${name}`, {});
  }

  async #delete(path: string, options: object): Promise<void> {
    try {
      await (await this.#send('DELETE', path, options)).arrayBuffer();
    } catch (error) {
      if (!(error instanceof KubernetesRefused && error.status === 404)) throw error;
    }
  }
}
