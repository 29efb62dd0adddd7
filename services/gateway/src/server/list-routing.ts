/**
 * LIST as a method that Fastify routes. node:http and Fastify's router each hold a list of the methods that
 * exist, and Fastify refuses routes for any other; there is no option to add one.
 */
import { createRequire } from 'node:module';

const fromFastify = createRequire(import.meta.resolve('fastify'));
const routed = fromFastify('find-my-way/lib/http-methods.js') as string[];
const { METHODS: parsed } = process.getBuiltinModule('node:http');

for (const methods of [parsed, routed]) if (!methods.includes('LIST')) methods.push('LIST');

/** The methods a route may have, LIST among them. */
export const ROUTED_METHODS: readonly string[] = parsed.filter((method) => routed.includes(method));
