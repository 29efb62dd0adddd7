/**
 * The references in the configuration of a plan. Only names are kept: values of a configuration may be secret, and the
 * defaults of its variables are among them.
 */
import { isFields, type Json, type JsonFields, listOf, mapFields } from './json-fields.ts';

/** Modules within modules that are read. */
const MAX_DEPTH = 20;

/** All references within an expression, a block or a list of blocks, each once. */
const referencesIn = (value: Json | undefined): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isFields(value)) return [];
  // A constant may have members of any name.
  const { references, constant_value: _, ...blocks } = value;
  const own = listOf(references).filter((one): one is string => typeof one === 'string');
  return [...own, ...Object.values(blocks).flatMap(referencesIn)];
};

const merged = (...values: readonly (Json | undefined)[]): JsonFields => ({
  references: [...new Set(values.flatMap(referencesIn))],
});

const dependenciesOf = (part: JsonFields): Json => ({ references: part['depends_on'] ?? [] });

const namedFields = (value: Json | undefined, map: (fields: JsonFields) => Json): JsonFields =>
  isFields(value) ? mapFields(value, (one) => (isFields(one) ? map(one) : {})) : {};

/** @param module of the `configuration` in `terraform show -json` */
const toReferences = (module: JsonFields, depth: number): JsonFields => ({
  resources: listOf(module['resources'])
    .filter(isFields)
    .map((resource) => ({
      address: resource['address'] ?? '',
      expressions: merged(
        resource['expressions'],
        resource['count_expression'],
        resource['for_each_expression'],
        dependenciesOf(resource),
      ),
    })),
  outputs: namedFields(module['outputs'], (output) => ({
    expression: merged(output['expression'], dependenciesOf(output)),
  })),
  module_calls:
    depth === 0
      ? {}
      : namedFields(module['module_calls'], (call) => ({
          expressions: namedFields(call['expressions'], (expression) => merged(expression)),
          module: isFields(call['module']) ? toReferences(call['module'], depth - 1) : {},
        })),
});

/** The configuration of a plan as its resources, outputs and calls of modules, with their references alone. */
export const configurationReferences = (configuration: Json | undefined): JsonFields => {
  const root = isFields(configuration) ? configuration['root_module'] : undefined;
  return { root_module: isFields(root) ? toReferences(root, MAX_DEPTH) : {} };
};
