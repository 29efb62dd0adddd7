/** The web console below `/ui/`, and the way there for a browser that asks for `/`. */
import { type Console, type ConsoleFile, loadConsole } from '@keelson/console';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

export const registerConsoleRoutes = (app: FastifyInstance): void => {
  // Read when first asked for: most processes never show it.
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
      'cache-control': 'no-cache',
      'content-security-policy': contentSecurityPolicy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    return request.headers['if-none-match'] === file.etag
      ? reply.code(304).send()
      : reply.type(file.type).send(file.body);
  };

  app.get('/', (_request, reply) => reply.redirect('/ui/', 307));
  app.get('/ui', (_request, reply) => reply.redirect('/ui/', 307));
  app.get('/ui/*', async (request: FastifyRequest<{ Params: { '*': string } }>, reply) => {
    const { files, contentSecurityPolicy } = await load();
    const file = files.get(request.params['*'] || 'index.html');
    return file === undefined
      ? reply.callNotFound()
      : send(request, reply, file, contentSecurityPolicy);
  });
};
