/** Answers to what never became a request; written to the connection as they are. */

interface Refusal {
  readonly status: string;
  readonly text: string;
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    text: 'the request line and headers are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    text: 'the request did not arrive in time',
  },
  HPE_INVALID_METHOD: { status: '400 Bad Request', text: 'the request method is not known' },
};
const MALFORMED: Refusal = { status: '400 Bad Request', text: 'the request is not valid HTTP/1.1' };

/** The connection cannot be used further: where a next request would begin is not known. */
export const malformedRequestAnswer = (error: Error & { readonly code?: string }): string => {
  const { status, text } = REFUSALS[error.code ?? ''] ?? MALFORMED;
  const body = JSON.stringify({ errors: [text] });
  return (
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
    `X-Content-Type-Options: nosniff\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
};
