/**
 * Handlers of events that bring bytes from outside, on sockets, servers, requests, responses, streams and readers of
 * lines, are wrapped by `guarded` of `@keelson/errors`: nobody awaits them, and what they throw would end the process.
 * A handler that only calls what cannot throw, such as `resolve` or `destroy`, needs no wrapper. Events that bring
 * nothing (`close`, `error`, `drain`, `finish`, signals) do not count.
 */

const METHODS: ReadonlySet<string> = new Set([
  'addListener',
  'on',
  'once',
  'prependListener',
  'prependOnceListener',
]);

/** Events that bring a connection, a request, a response or pieces of one. */
const EVENTS: ReadonlySet<string> = new Set([
  'checkContinue',
  'clientError',
  'connect',
  'connection',
  'data',
  'end',
  'entry',
  'headers',
  'line',
  'metadata',
  'push',
  'readable',
  'request',
  'response',
  'secureConnect',
  'secureConnection',
  'session',
  'socket',
  'stream',
  'tlsClientError',
  'trailers',
  'upgrade',
]);

/** Functions and methods that throw nothing, whatever they are given. */
const HARMLESS: ReadonlySet<string> = new Set([
  'add',
  'clearTimeout',
  'delete',
  'destroy',
  'once',
  'pause',
  'push',
  'reject',
  'resolve',
  'resume',
]);

export interface SyntaxNode {
  readonly type: string;
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && 'type' in value;

const nameOf = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined;
  if (node.type === 'Identifier' || node.type === 'PrivateIdentifier')
    return node['name'] as string;
  return node.type === 'MemberExpression' ? nameOf(node['property']) : undefined;
};

const isFunction = (node: SyntaxNode): boolean =>
  node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression';

/** Syntax that may throw by itself. */
const THROWING: ReadonlySet<string> = new Set([
  'AwaitExpression',
  'ForOfStatement',
  'TaggedTemplateExpression',
  'ThrowStatement',
  'YieldExpression',
]);

const childrenOf = (node: SyntaxNode): readonly SyntaxNode[] =>
  Object.entries(node)
    .filter(([key]) => key !== 'parent')
    .flatMap(([, value]) => value as unknown)
    .filter(isNode);

const mayThrow = (node: SyntaxNode): boolean => {
  if (THROWING.has(node.type)) return true;
  if (node.type === 'CallExpression' || node.type === 'NewExpression') {
    const name = nameOf(node['callee']) ?? '';
    const isError = node.type === 'NewExpression' && name.endsWith('Error');
    if (!isError && !HARMLESS.has(name)) return true;
  }
  return childrenOf(node).some(mayThrow);
};

/** The initial values of the names that a file declares. */
export type Declarations = ReadonlyMap<string, SyntaxNode>;

const isSafe = (handler: SyntaxNode, declared: Declarations): boolean => {
  if (isFunction(handler)) return !mayThrow(handler);
  if (handler.type === 'CallExpression') return nameOf(handler['callee']) === 'guarded';
  const name = nameOf(handler) ?? '';
  const meant = handler.type === 'Identifier' ? declared.get(name) : undefined;
  return meant === undefined ? HARMLESS.has(name) : isSafe(meant, new Map());
};

/** Functions that make a server, and take the handler of its requests. */
const MAKERS: ReadonlySet<string> = new Set([
  'createHttpServer',
  'createSecureServer',
  'createServer',
]);

/** The event of a call that attaches a bare handler; undefined for calls that the rule accepts. */
export const bareHandler = (call: SyntaxNode, declared: Declarations): string | undefined => {
  const callee = call['callee'];
  const given = call['arguments'] as readonly SyntaxNode[];
  if (MAKERS.has(nameOf(callee) ?? '')) {
    const handler = given.find(isFunction);
    return handler === undefined || isSafe(handler, declared) ? undefined : 'request';
  }
  const [event, handler] = given;
  if (!isNode(callee) || callee.type !== 'MemberExpression' || !METHODS.has(nameOf(callee) ?? ''))
    return undefined;
  // Signals and messages of the operating system, which a stranger does not send.
  if (event === undefined || handler === undefined || nameOf(callee['object']) === 'process')
    return undefined;
  if (event.type === 'Literal')
    return EVENTS.has(String(event['value'])) && !isSafe(handler, declared)
      ? String(event['value'])
      : undefined;
  // An event whose name is a variable may be any.
  return isFunction(handler) && !isSafe(handler, declared) ? (nameOf(event) ?? 'event') : undefined;
};

export interface HandlerContext {
  report(complaint: { readonly node: SyntaxNode; readonly message: string }): void;
}

export const guardedHandlers = {
  create: (context: HandlerContext) => {
    const declared = new Map<string, SyntaxNode>();
    const calls: SyntaxNode[] = [];
    return {
      VariableDeclarator: ({ id, init }: SyntaxNode): void => {
        const name = nameOf(id);
        if (name !== undefined && isNode(init)) declared.set(name, init);
      },
      CallExpression: (node: SyntaxNode): void => {
        calls.push(node);
      },
      // A handler may be declared below the place where it is attached.
      'Program:exit': (): void => {
        for (const node of calls) {
          const event = bareHandler(node, declared);
          if (event === undefined) continue;
          const message = `wrap the handler of "${event}" by guarded of @keelson/errors: what it throws would end the process`;
          context.report({ node, message });
        }
      },
    };
  },
};
