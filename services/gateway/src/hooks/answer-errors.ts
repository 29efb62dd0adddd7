/** The error handler for every surface: errors of hooks, routes and Fastify itself. */
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RenderError } from '../answers/error-documents.ts';
import { writeAnswer } from '../answers/write-answer.ts';
import type { Exchange } from '../request/exchange.ts';
import { endWithAnswer, isCutShort } from '../request/incoming-body.ts';
import { OWN } from '../request/surface.ts';

export type ErrorHandler = (
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<void>;

/** Whether the request may have a body that no route reads and no limit bounds. */
const isUnread = ({ surface, request }: Exchange): boolean => surface === OWN && !request.complete;

/** @param logger logs interrupted responses, because the client only sees a closed connection */
export const createErrorHandler =
  (renderError: RenderError, logger: Logger): ErrorHandler =>
  async (thrown, { exchange }, reply) => {
    const { request, requestId, surface, answerHeaders } = exchange;
    reply.hijack();
    if (reply.raw.headersSent) {
      logger.warn({ err: thrown, request_id: requestId }, 'the response was interrupted');
      // Without an error, HTTP/2 would end the answer as if it were complete.
      reply.raw.destroy(KeelsonError.from(thrown));
      return;
    }
    const error = KeelsonError.from(thrown);
    // The rest of the body may take as long again, so the connection is closed after the answer.
    if (error.code === 'request.deadline_exceeded') answerHeaders['connection'] = 'close';
    else if (error.httpStatus === 413 || isCutShort(request) || isUnread(exchange))
      await endWithAnswer(exchange);
    await writeAnswer(reply.raw, renderError(surface.name, thrown, requestId), answerHeaders);
  };
