/**
 * The web console below `/ui/` and `/app/`, and the redirect to it for a browser that requests `/`.
 * Provisioning clients send people to addresses below `/app/`: `terraform login` to
 * `/app/command-login`, the page of a run is `/app/<organization>/<workspace>/runs/<id>`.
 * `/docs/<api>` is the reference of an API, on a separate page.
 */
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';
import {
  type Console,
  type ConsoleFile,
  type ContentEncoding,
  loadConsole,
} from './built-console.ts';

const PAGE = 'index.html';
const REFERENCE = 'docs.html';
const YEAR_SECONDS = 365 * 24 * 60 * 60;
const NOT_BUILT = 'The console has not been built: make console\n';

type FileRequest = FastifyRequest<{ Params: { '*': string } }>;

/** Whether a browser navigates to a page, rather than loading a script or image of one. */
const isNavigation = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.includes('text/html') === true;

/** RFC 9110 §12.5.3, as browsers write it: names without weights, or with `q=0` for "not at all". */
const accepts = ({ headers }: FastifyRequest, encoding: ContentEncoding): boolean =>
  String(headers['accept-encoding'] ?? '')
    .split(',')
    .some((part) => {
      const [name = '', weight = ''] = part.split(';').map((text) => text.trim().toLowerCase());
      return name === encoding && !/^q=0(?:\.0*)?$/.test(weight);
    });

export interface ConsoleParts {
  /** Names of the APIs, each with a document at `/openapi/<name>.json`. */
  readonly apis: readonly string[];
}

export const consolePlugin: FastifyPluginCallback<ConsoleParts> = (app, { apis }, done) => {
  // Loaded on first request, as most processes never serve the console.
  let loading: Promise<Console> | undefined;
  const load = (): Promise<Console> => {
    loading ??= loadConsole();
    return loading;
  };

  const send = (
    request: FastifyRequest,
    reply: FastifyReply,
    file: ConsoleFile,
    contentSecurityPolicy: string,
  ): FastifyReply => {
    reply.headers({
      etag: file.etag,
      'cache-control': file.isImmutable ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
      'content-security-policy': contentSecurityPolicy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      ...(file.encoded.size > 0 && { vary: 'accept-encoding' }),
    });
    if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
    for (const [encoding, body] of file.encoded)
      if (accepts(request, encoding))
        return reply.type(file.type).header('content-encoding', encoding).send(body);
    return reply.type(file.type).send(file.body);
  };

  const serve = async (
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
  ): Promise<FastifyReply> => {
    const { files, contentSecurityPolicy } = await load();
    // Every navigation gets the same page; its script selects the view by the URL.
    const file = files.get(path) ?? (isNavigation(request) ? files.get(PAGE) : undefined);
    if (file !== undefined) return send(request, reply, file, contentSecurityPolicy);
    if (files.size === 0 && (path === PAGE || path === REFERENCE))
      return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
    reply.callNotFound();
    return reply;
  };

  app.get('/docs', (_request, reply) => reply.redirect('/docs/workspace', 307));
  for (const name of apis)
    app.get(`/docs/${name}`, (request, reply) => serve(request, reply, REFERENCE));
  app.get('/', (_request, reply) => reply.redirect('/ui/', 307));
  app.get('/ui', (_request, reply) => reply.redirect('/ui/', 307));
  app.get('/ui/*', (request: FileRequest, reply) =>
    serve(request, reply, request.params['*'] || PAGE),
  );
  app.get('/app', (request, reply) => serve(request, reply, PAGE));
  app.get('/app/*', (request, reply) => serve(request, reply, PAGE));
  done();
};
