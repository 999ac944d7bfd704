/** The time axis of a run: labels in seconds, minutes, hours or days, by its length. */
import { formatCount } from '../../../common/units.js';
import { fit } from './axes.js';

const TIME_UNITS = Object.freeze([
  { name: 's', seconds: 1, upTo: 180 },
  { name: 'min', seconds: 60, upTo: 3 * 3600 },
  { name: 'h', seconds: 3600, upTo: 4 * 86_400 },
  { name: 'days', seconds: 86_400, upTo: Number.POSITIVE_INFINITY },
]);

const TIME_STEPS = Object.freeze([
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800,
  604_800, 1_209_600, 2_419_200,
]);

/**
 * @param {number} seconds length of the chart
 * @returns {import('./axes.js').Axis} its values are seconds from the start
 */
export function timeAxis(seconds) {
  const end = Math.max(1, seconds);
  const unit = TIME_UNITS.find(({ upTo }) => end <= upTo) ?? TIME_UNITS[3];
  const steps = TIME_STEPS.filter((step) => step % unit.seconds === 0);
  const label = (/** @type {number} */ at) => formatCount(at / unit.seconds);
  return {
    title: `time since the start, ${unit.name}`,
    at: (value) => value / end,
    ticks(length, room) {
      const widest = room(label(Math.ceil(end / unit.seconds) * unit.seconds));
      const step = steps.find((candidate) => (candidate / end) * length >= widest) ?? steps[steps.length - 1];
      const ticks = Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, i) => ({
        at: (i * step) / end,
        label: label(i * step),
      }));
      return fit(ticks, length, room);
    },
  };
}
