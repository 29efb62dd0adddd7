/** The addresses that certificates of one issuer name, in place of those of the authority. */
import { vaultCommand } from '../../components/commands.tsx';
import { FactList } from '../../components/fact-list.tsx';
import { FormActions } from '../../components/fields.tsx';
import { Card } from '../../components/page.tsx';
import { Choice } from '../../editing/choice.tsx';
import { EditButton } from '../../editing/edit-button.tsx';
import { secretTarget } from '../../editing/edit-target.ts';
import {
  AddressFields,
  addressFacts,
  addressValues,
  changedLists,
  TemplateHint,
} from '../address-lists.tsx';
import type { Issuer } from './issuer.ts';

const valuesOf = (issuer: Issuer) => ({
  ...addressValues(issuer),
  enable_aia_url_templating: issuer.enable_aia_url_templating ?? false,
});

const hasOwn = (issuer: Issuer): boolean => Object.values(addressValues(issuer)).join('') !== '';

export const IssuerAddresses = (props: { mount: string; issuer: Issuer; mayChange: boolean }) => {
  const { mount, issuer } = props;
  const path = `${mount}/issuer/${issuer.issuer_id}`;
  return (
    <Card title="Addresses in its certificates">
      {hasOwn(issuer) ? (
        <FactList
          facts={[
            ...addressFacts(issuer),
            [
              'Parts in double braces',
              issuer.enable_aia_url_templating === true ? 'replaced' : 'kept',
            ],
          ]}
        />
      ) : (
        <p>Its certificates name the addresses of the authority, which are among its settings.</p>
      )}
      {props.mayChange && (
        <FormActions>
          <EditButton
            edits="issuer-addresses"
            label="Change its addresses"
            title="Addresses that its certificates name"
            target={secretTarget<Issuer>(path, { method: 'PATCH' })}
            valuesOf={valuesOf}
            bodyOf={changedLists}
            fields={(values) => (
              <>
                <p>
                  With one address here, certificates of this issuer name none of the authority's.
                  What was issued stays as it is.
                </p>
                <AddressFields values={values} />
                <Choice
                  name="enable_aia_url_templating"
                  isTicked={values.enable_aia_url_templating}
                >
                  Parts in double braces stand for the issuer's own
                </Choice>
                <TemplateHint />
              </>
            )}
            commands={() => [vaultCommand(`vault patch ${path} crl_distribution_points=…`)]}
          />
        </FormActions>
      )}
    </Card>
  );
};
