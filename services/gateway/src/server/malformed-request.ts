/** Responses to bytes that are not an HTTP request, written directly to the connection. */

interface Refusal {
  readonly status: string;
  readonly text: string;
}

/** Our code for plain HTTP on the TLS port, used like the codes of the parser. */
export const PLAIN_HTTP = 'PLAIN_HTTP';

const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    text: 'the request line and headers are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    text: 'the request did not arrive in time',
  },
  [PLAIN_HTTP]: {
    status: '400 Bad Request',
    text: 'this port speaks HTTPS: repeat the request with https://. A token in it was sent unencrypted.',
  },
  HPE_INVALID_METHOD: { status: '400 Bad Request', text: 'the request method is not known' },
};
const MALFORMED: Refusal = { status: '400 Bad Request', text: 'the request is not valid HTTP/1.1' };

interface ParserError extends Error {
  readonly code?: string;
  /** The bytes that the parser failed on. */
  readonly rawPacket?: Uint8Array;
}

/** Whether the bytes begin with a request line for `/api/v2`, whose errors are JSON:API documents. */
const isForApiV2 = ({ rawPacket }: ParserError): boolean =>
  /^\S+ \/api\/v2[/? ]/.test(Buffer.from(rawPacket ?? []).toString('latin1', 0, 256));

/** Ends the connection, since it is unknown where a next request would begin. */
export const malformedRequestAnswer = (error: ParserError): string => {
  const { status, text } = REFUSALS[error.code ?? ''] ?? MALFORMED;
  const isJsonApi = isForApiV2(error);
  const [code = '', ...title] = status.split(' ');
  const document = isJsonApi
    ? { errors: [{ status: code, title: title.join(' ').toLowerCase(), detail: text }] }
    : { errors: [text] };
  const body = JSON.stringify(document);
  const mediaType = isJsonApi ? 'application/vnd.api+json' : 'application/json';
  return (
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: ${mediaType}\r\n` +
    `X-Content-Type-Options: nosniff\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
};
