/** The context of every command: a client for the given address, and output. */
import type { Command } from 'commander';
import {
  ApiClient,
  type Connection,
  DEFAULT_ADDRESS,
  type Document,
  trustAlso,
} from '../client/api-client.ts';
import { CliFailure } from '../client/failure.ts';
import { toTable } from '../client/terminal.ts';
import { requireToken, type TokenKind } from '../client/token-files.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

interface GlobalOptions {
  readonly address?: string;
  readonly caCert?: string;
  readonly json?: true;
}

export class Cli {
  readonly environment: Environment;
  readonly #program: Command;

  constructor(program: Command, environment: Environment) {
    this.#program = program;
    this.environment = environment;
  }

  get client(): ApiClient {
    return this.clientWith({});
  }

  /**
   * @param replaced variables in place of those of the environment
   * @param changes of the connection
   */
  clientWith(replaced: Environment, changes: Pick<Connection, 'send'> = {}): ApiClient {
    return new ApiClient({
      ...changes,
      address: this.address,
      caFile: this.#caFile,
      environment: { ...this.environment, ...replaced },
    });
  }

  /**
   * Address and token of the server, for commands with a separate client.
   * @param replaced variables in place of those of the environment
   */
  serverFor(
    kind: TokenKind,
    replaced: Environment = {},
  ): { readonly address: string; readonly token: string } {
    if (this.#caFile !== undefined) trustAlso(this.#caFile);
    const token = requireToken({ ...this.environment, ...replaced }, kind);
    return { address: this.address, token };
  }

  /** The address of the server. @throws CliFailure for any other text */
  get address(): string {
    const { KEELSON_ADDR, VAULT_ADDR } = this.environment;
    const address = this.#options.address ?? KEELSON_ADDR ?? VAULT_ADDR ?? DEFAULT_ADDRESS;
    if (!/^https?:$/.test(URL.parse(address)?.protocol ?? ''))
      throw new CliFailure(
        `${address} is not the address of a server, such as ${DEFAULT_ADDRESS}: correct --address, KEELSON_ADDR or VAULT_ADDR.`,
      );
    return address;
  }

  get #caFile(): string | undefined {
    const { KEELSON_CACERT, VAULT_CACERT } = this.environment;
    return this.#options.caCert ?? KEELSON_CACERT ?? VAULT_CACERT;
  }

  get #options(): GlobalOptions {
    return this.#program.opts<GlobalOptions>();
  }

  /** Prints the document with --json, otherwise the text. */
  print(document: Document, text: string): void {
    const isJson = this.#options.json === true;
    process.stdout.write(`${isJson ? JSON.stringify(document, undefined, 2) : text}\n`);
  }

  printTable(document: Document, rows: readonly (readonly string[])[]): void {
    this.print(document, toTable(rows));
  }

  /** Prints the members of an object, one per line. */
  printFields(document: Document): void {
    const rows = Object.entries((document ?? {}) as object).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    this.printTable(document, rows);
  }
}
