/** The button of a page that opens the commands of all its parts in a panel. */
import { useContext, useState } from 'react';
import { Button } from './button.tsx';
import {
  type Command,
  type CommandRegistry,
  CommandsOfPage,
  useCommandEntries,
} from './command-registry.ts';
import { CommandList } from './commands.tsx';
import styles from './commands-button.module.css';
import { FormActions } from './fields.tsx';
import { SidePanel } from './modal.tsx';
import { useOpenedByAddress } from './opened-by-address.ts';
import { CardHeading } from './text.tsx';

/** Commands by title, as one part of a page may have several. */
const byTitle = (
  entries: readonly { readonly title: string; readonly commands: readonly Command[] }[],
): ReadonlyMap<string, readonly Command[]> =>
  entries.reduce(
    (sections, { title, commands }) =>
      sections.set(title, [...(sections.get(title) ?? []), ...commands]),
    new Map<string, readonly Command[]>(),
  );

const PanelButton = ({ registry }: { registry: CommandRegistry }) => {
  const [isOpen, setOpen] = useState(false);
  const entries = useCommandEntries(registry);
  useOpenedByAddress('commands', () => setOpen(true));
  return (
    <>
      {/* Its place is kept before the parts of the page are there, so that nothing moves when they are. */}
      <Button
        className={styles['commands-button']}
        aria-haspopup="dialog"
        disabled={entries.length === 0}
        onClick={() => setOpen(true)}
      >
        Commands
      </Button>
      <SidePanel title="Commands of this page" isOpen={isOpen} onClose={() => setOpen(false)}>
        <p>They show or do the same as the page, in its namespace.</p>
        {[...byTitle(entries)].map(([title, commands]) => (
          <section key={title} aria-label={title}>
            <CardHeading className={styles['heading']}>{title}</CardHeading>
            <CommandList commands={commands} />
          </section>
        ))}
        <FormActions>
          <Button onClick={() => setOpen(false)}>Close</Button>
        </FormActions>
      </SidePanel>
    </>
  );
};

/** The button, in a page. */
export const CommandsButton = () => {
  const registry = useContext(CommandsOfPage);
  return registry && <PanelButton registry={registry} />;
};
