/** The limit that HTTP benches compare with: Fastify answering the same bytes and nothing else. */
import fastify from 'fastify';

const app = fastify();
const body = Buffer.alloc(Number(process.env['BODY_BYTES'] ?? '2'), 'k');
app.all('/*', (_request, reply) => reply.type('application/json').send(body));
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
