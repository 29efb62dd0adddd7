/** The instances that a workspace manages, as listed in its state. */
import {
  type InstanceKey,
  type StateResource,
  toInstanceAddress,
} from '../../state-versions/domain/state-summary.ts';

export interface ManagedInstance {
  /** As the provisioning tool writes it: `module.m.type.name["key"]`. */
  readonly address: string;
  readonly name: string;
  /** "root", or the address of the module. */
  readonly module: string;
  /** Source address of the provider, without a host that is the default: `hashicorp/null`. */
  readonly provider: string;
  readonly resourceType: string;
  /** Null if the resource has a single instance. */
  readonly key: InstanceKey | null;
}

const DEFAULT_HOST = 'registry.terraform.io/';

/** From `provider["registry.terraform.io/hashicorp/null"]`, an alias behind it or a module before it. */
const toProvider = (text: string): string => {
  const source = /provider\["([^"]+)"\]/.exec(text)?.[1] ?? text;
  return source.startsWith(DEFAULT_HOST) ? source.slice(DEFAULT_HOST.length) : source;
};

/** Instances of managed resources, in the order of the state. Data sources are read, not managed. */
export const listManagedInstances = (
  resources: readonly StateResource[],
): readonly ManagedInstance[] =>
  resources
    .filter(({ isManaged, count }) => isManaged && count > 0)
    .flatMap((resource) =>
      (resource.instanceKeys ?? [null]).map((key) => ({
        address: toInstanceAddress(resource, key),
        name: resource.name,
        module: resource.module,
        provider: toProvider(resource.provider),
        resourceType: resource.type,
        key,
      })),
    );
