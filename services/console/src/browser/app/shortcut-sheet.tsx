/** The help sheet of the keyboard shortcuts. */
import { Modal } from '../components/modal.tsx';
import { type Shortcut, switchShortcuts, useAreShortcutsOn } from './shortcuts.ts';

export const ShortcutSheet = (props: {
  shortcuts: readonly Shortcut[];
  isOpen: boolean;
  onClose: () => void;
}) => {
  const areOn = useAreShortcutsOn();
  return (
    <Modal title="Keyboard shortcuts" isOpen={props.isOpen} onClose={props.onClose}>
      <dl className="shortcuts">
        <div>
          <dt>
            <kbd>Ctrl K</kbd>
          </dt>
          <dd>Search and act, while typing too</dd>
        </div>
        {props.shortcuts.map(({ keys, title }) => (
          <div key={title}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
      <label className="choice">
        <input
          type="checkbox"
          checked={areOn}
          onChange={({ target }) => switchShortcuts(target.checked)}
        />{' '}
        Single keys are shortcuts
      </label>
      <p className="hint">
        They are none while you type or a dialog is open. Switch them off if you speak to your
        computer, or other software uses the same keys.
      </p>
      <div className="form-actions">
        <button type="button" onClick={props.onClose}>
          Close
        </button>
      </div>
    </Modal>
  );
};
