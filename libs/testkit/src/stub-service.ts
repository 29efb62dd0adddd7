/**
 * An RPC service with only the methods a test needs, so that a new method in a proto changes no test. Calling
 * any other method throws a TypeError.
 *
 * @example stubService<RpcService<typeof IdentityDefinition>>({ identify })
 */
export const stubService = <Service extends object>(methods: Partial<Service>): Service =>
  methods as Service;
