/**
 * The judgement of walks that send each declared parameter of each operation alone, with a telling value: its
 * effect differs, it is refused, or a warning names it.
 */

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Described {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

export interface DescribedOperation {
  /** `POST /sys/init`; LIST is a method. PUT, which is POST by the same handler, is left out. */
  readonly route: string;
  /** Names of query parameters and of members of the body; those of objects are written with a dot. */
  readonly names: readonly string[];
}

const namesIn = ({ properties = {} }: Schema, prefix = ''): string[] =>
  Object.entries(properties).flatMap(([name, inner]) =>
    inner.properties === undefined ? [prefix + name] : namesIn(inner, `${prefix}${name}.`),
  );

/** The operations of an OpenAPI Paths Object that declare parameters, apart from those of the path. */
export const operationsWithParameters = (pathsJson: string): readonly DescribedOperation[] =>
  Object.entries(JSON.parse(pathsJson) as Record<string, Record<string, Described>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).flatMap(([method, { parameters = [], requestBody }]) => {
        const [content] = Object.values(requestBody?.content ?? {});
        const names = [
          ...parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name),
          ...namesIn(content?.schema ?? {}),
        ];
        if (names.length === 0 || method === 'put') return [];
        return [{ route: `${method.replace('x-', '').toUpperCase()} ${path}`, names }];
      }),
  );

/** Parts of the names of parameters that limit. */
const LIMIT =
  /(?:^|_)(?:ttl|max|not_after|not_before|permitted|excluded|allowed|allow|disallowed|enforce|require|disable|bounds?|cidrs?|uses|usage|period|policies|policy|paths|mode|sealed|retention|no_default|no_parent|renewable)(?:_|$)/;

/** Whether a parameter limits what others may do: it holds or is refused, and is never only warned of. */
export const limitsByName = (name: string): boolean => LIMIT.test(name);

/** One request of a walk. */
export interface AskedAlone {
  readonly status: number;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** The state that can be read afterwards, without ids and times, which differ with every request. */
  readonly outcome: string;
}

/**
 * @param plain the request without the parameter, in the same state
 * @returns the finding; undefined when the parameter is noticed
 */
export const judgeAlone = (
  name: string,
  plain: AskedAlone,
  sent: AskedAlone,
): string | undefined => {
  if (sent.status >= 500) return `is answered with ${sent.status}`;
  const own = name.split('.').at(-1) ?? name;
  const added = sent.warnings.filter((text) => !plain.warnings.includes(text));
  if (limitsByName(own) && added.some((text) => text.startsWith(`${own} has no effect`)))
    return 'limits, and is only warned of';
  const differs =
    sent.status !== plain.status ||
    sent.outcome !== plain.outcome ||
    String(sent.errors) !== String(plain.errors);
  if (differs) return undefined;
  if (plain.errors.length > 0) return `cannot be tried: ${plain.errors[0]}`;
  if (added.some((text) => text.split(/\W+/).includes(own)))
    return limitsByName(own) ? 'limits, and is only warned of' : undefined;
  return 'changes nothing, without a warning';
};
