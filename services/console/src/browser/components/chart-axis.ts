/** The look of the axes of charts. */
import styles from './chart.module.css';

export const AXIS_LOOK = {
  axisLineClassName: styles['axis-line'] ?? '',
  tickLineProps: { className: styles['axis-line'] ?? '' },
  tickLabelProps: { className: styles['axis-label'] ?? '' },
};
