/** Login MFA of the namespace: the methods, and the logins that are asked for them. */
import { useCapabilities, useSecret, useSecretList } from '../api/queries.ts';
import { Commands, secretsCurl } from '../components/commands.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty, Page } from '../components/page.tsx';
import { AddEnforcement, EnforcementTable } from './enforcements.tsx';
import {
  type AuthMounts,
  ENFORCEMENTS,
  type Enforcement,
  METHODS,
  type Method,
  PASSKEYS,
  pathOfEnforcement,
  pathOfMethod,
  TOTP,
} from './login-mfa.ts';
import { LOOKUP, pathOfRemoval } from './lost-factor.tsx';
import { AddMethod, MethodTable } from './methods.tsx';

/** Nobody knows the name of the next one before it is typed. */
const ENFORCEMENT_OF_ANY_NAME = pathOfEnforcement('any');

export const SecondFactorsPage = () => {
  const methods = useSecretList<Method>(METHODS);
  const enforcements = useSecretList<Enforcement>(ENFORCEMENTS);
  const mounts = useSecret<AuthMounts>('sys/auth');
  const found = Object.values(methods.data?.infos ?? {});
  const named = Object.values(enforcements.data?.infos ?? {});
  const may = useCapabilities([
    TOTP,
    PASSKEYS,
    ENFORCEMENT_OF_ANY_NAME,
    LOOKUP,
    ...found.map(pathOfMethod),
    ...found.map(pathOfRemoval),
    ...named.map(({ name }) => pathOfEnforcement(name)),
  ]);
  const types = [
    ...(may(PASSKEYS, 'update') ? [PASSKEYS] : []),
    ...(may(TOTP, 'update') ? [TOTP] : []),
  ];
  return (
    <Page
      title="Second factors"
      lead="What a login asks for after a password, a directory or a provider, in this namespace and below."
    >
      <Card title="Methods" actions={types.length > 0 && <AddMethod types={types} />}>
        <Loaded query={methods}>
          {() =>
            found.length === 0 ? (
              <Empty>No method. A login asks for the first factor alone.</Empty>
            ) : (
              <MethodTable methods={found} mounts={mounts.data ?? undefined} may={may} />
            )
          }
        </Loaded>
        <Commands commands={[secretsCurl('LIST', METHODS)]} />
      </Card>
      <Card
        title="Login enforcements"
        actions={
          may(ENFORCEMENT_OF_ANY_NAME, 'update') &&
          found.length > 0 &&
          mounts.data && <AddEnforcement methods={found} mounts={mounts.data} />
        }
      >
        <Loaded query={enforcements}>
          {() =>
            named.length === 0 ? (
              <Empty>No login is asked for a second factor.</Empty>
            ) : (
              <EnforcementTable
                enforcements={named}
                methods={found}
                mounts={mounts.data ?? {}}
                may={may}
              />
            )
          }
        </Loaded>
        <Commands commands={[secretsCurl('LIST', ENFORCEMENTS)]} />
      </Card>
    </Page>
  );
};
