/** The help sheet of the keyboard shortcuts. */

import { Button } from '../components/button.tsx';
import { ChoiceLabel, FormActions } from '../components/fields.tsx';
import { Modal } from '../components/modal.tsx';
import { Hint, Key } from '../components/text.tsx';
import styles from './shortcut-sheet.module.css';
import { type Shortcut, switchShortcuts, useAreShortcutsOn } from './shortcuts.ts';

export const ShortcutSheet = (props: {
  shortcuts: readonly Shortcut[];
  isOpen: boolean;
  onClose: () => void;
}) => {
  const areOn = useAreShortcutsOn();
  return (
    <Modal title="Keyboard shortcuts" isOpen={props.isOpen} onClose={props.onClose}>
      <dl className={styles['shortcuts']}>
        <div className={styles['shortcut']}>
          <dt>
            <Key>Ctrl K</Key>
          </dt>
          <dd className={styles['effect']}>Search and act, while typing too</dd>
        </div>
        {props.shortcuts.map(({ keys, title }) => (
          <div key={title} className={styles['shortcut']}>
            <dt>
              {keys.map((key) => (
                <Key key={key} className={styles['key']}>
                  {key}
                </Key>
              ))}
            </dt>
            <dd className={styles['effect']}>{title}</dd>
          </div>
        ))}
      </dl>
      <ChoiceLabel>
        <input
          type="checkbox"
          checked={areOn}
          onChange={({ target }) => switchShortcuts(target.checked)}
        />{' '}
        Single keys are shortcuts
      </ChoiceLabel>
      <Hint>
        They are none while you type or a dialog is open. Switch them off if you speak to your
        computer, or other software uses the same keys.
      </Hint>
      <FormActions>
        <Button onClick={props.onClose}>Close</Button>
      </FormActions>
    </Modal>
  );
};
