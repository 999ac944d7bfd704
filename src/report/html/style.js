/**
 * The style sheet of HTML reports. Sizes follow a scale of 1.2: 0.833, 1, 1.2, 1.44, 1.728 rem. Series colours are Okabe and
 * Ito's, darkened on white and lightened on black to at least 3:1; text has at least 4.5:1. Printed pages are always white.
 */
export const STYLE = `
:root {
  color-scheme: light;
  --paper: #fff; --ink: #1a2026; --muted: #55606b; --rule: #cfd5da; --grid: #e4e8eb; --tint: #f3f5f7; --focus: #0072b2; --shade: #0003;
  --s1: #0072b2; --s2: #c65200; --s3: #007f5c; --s4: #a34f83; --s5: #946200; --s6: #68737d;
  --good: #0b5c3b; --good-tint: #dcf3e7; --unsure: #6a4a00; --unsure-tint: #fcefcf; --bad: #8c1d04; --bad-tint: #fde4dc;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    color-scheme: dark;
    --paper: #12171c; --ink: #e9edf0; --muted: #a9b4be; --rule: #3a444d; --grid: #2a323a; --tint: #1b2229; --focus: #56b4e9; --shade: #000c;
    --s1: #56b4e9; --s2: #ff8f45; --s3: #2fc79a; --s4: #e39ac6; --s5: #f0c541; --s6: #98a3ad;
    --good: #8fe3bd; --good-tint: #123a2a; --unsure: #f2d389; --unsure-tint: #40320f; --bad: #ffb8a3; --bad-tint: #4d1e12;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 0.9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
header, main, footer { max-width: 84rem; margin: 0 auto; padding: 0 clamp(1rem, 3vw, 2rem); }
header { padding-top: 1.25rem; padding-bottom: 0.75rem; }
footer { padding-top: 1rem; padding-bottom: 2rem; color: var(--muted); font-size: 0.833rem; }
h1, h2, h3 { line-height: 1.25; margin: 0; text-wrap: pretty; }
h1 { font-size: 1.728rem; font-weight: 650; }
h2 { font-size: 1.44rem; font-weight: 650; margin-bottom: 0.75rem; }
h3, figcaption h2 { font-size: 1.1rem; font-weight: 600; margin-bottom: 0; }
p { margin: 0 0 0.5rem; max-width: 60rem; text-wrap: pretty; }
figcaption p, .key, .caption, .summary, .reason, .tiles :is(dt, .range), summary, ul.legend { font-size: 0.833rem; }
.subject, .muted, figcaption p, .key, .caption, .summary, .reason { color: var(--muted); }
.subject { margin: 0.25rem 0 0; max-width: none; }
section { padding: 1.25rem 0; border-top: 1px solid var(--rule); }
section:first-child { border-top: 0; padding-top: 0; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
code { font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.93em; }
.answer { font-size: 1.2rem; line-height: 1.4; margin-bottom: 0.75rem; }

.badge { display: inline-block; color: var(--c, var(--ink)); background: var(--tint-c, var(--tint)); padding: 0 0.6em; border-radius: 1em; font-weight: 650; white-space: nowrap; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.good { --c: var(--good); --tint-c: var(--good-tint); }
.unsure { --c: var(--unsure); --tint-c: var(--unsure-tint); }
.bad { --c: var(--bad); --tint-c: var(--bad-tint); }
ul.verdicts, ul.legend { list-style: none; margin: 0; padding: 0; }
ul.verdicts { display: grid; grid-template-columns: max-content fit-content(22rem) auto 1fr; margin-bottom: 1rem; }
.verdicts > li { display: grid; grid-column: 1 / -1; grid-template-columns: subgrid; gap: 0 1rem; align-items: start; padding: 0.3rem 0; border-bottom: 1px solid var(--grid); }
.verdicts > li:first-child { border-top: 1px solid var(--grid); }
.verdicts .badge { justify-self: start; }
.verdicts + .key { margin-top: -0.75rem; }
.verdicts code { font-weight: 600; }
.verdicts .text { grid-column: -2; }
.verdicts .bars { grid-column: 3; }
.verdicts .reason { grid-column: 2 / -1; margin: 0; max-width: 70rem; }
@media (max-width: 41.99em) {
  ul.verdicts { grid-template-columns: max-content 1fr; }
  .verdicts > li { gap: 0.1rem 0.75rem; }
  .verdicts .text, .verdicts .bars, .verdicts .reason { grid-column: 1 / -1; }
}

dl, dd { margin: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 0.75rem 1.5rem; margin-bottom: 1rem; }
.tiles > div { border-left: 3px solid var(--rule); padding-left: 0.75rem; }
.tiles dt, .tiles .range { color: var(--muted); }
.tiles dd:not(.range) { font-size: 1.44rem; line-height: 1.3; font-weight: 500; overflow-wrap: normal; }
.facts { margin-bottom: 1rem; columns: 2 30rem; column-gap: 2.5rem; column-rule: 1px solid var(--grid); }
.facts > div { display: grid; grid-template-columns: 8rem 1fr; gap: 0 1rem; padding: 0.25rem 0; border-bottom: 1px solid var(--grid); break-inside: avoid; }
.facts dt { color: var(--muted); }
.note { border-left: 3px solid var(--s5); padding-left: 0.75rem; margin-bottom: 0.75rem; max-width: 60rem; }
.note p { margin: 0; }

.bars { display: block; max-width: 100%; margin-top: 1px; }
.bars path { fill: none; stroke-width: 1.5; }
.bars .track { stroke: var(--rule); }
.bars .mark { stroke: var(--ink); stroke-width: 2; }
.bars .bar { stroke: var(--c, var(--s1)); stroke-width: 2; }
.bars .value { fill: var(--c, var(--s1)); }
.bars .side { fill: var(--tint-c, var(--tint)); }

.rows { display: flex; flex-wrap: wrap; gap: 1.25rem 1.5rem; margin-bottom: 1rem; }
.rows > * { min-width: 0; max-width: 100%; }
.rows > figure { flex: 1 1 34rem; }
.rows > figure.main { flex-basis: 100%; }
@media (min-width: 75em) { .rows > figure:not(.main) { max-width: calc(50% - 0.75rem); } }
.caption { margin-bottom: 0.35rem; max-width: 40rem; }
.scroll {
  overflow-x: auto; background:
    linear-gradient(to right, var(--paper) 1.5rem, transparent 3rem) left / 3rem 100%,
    linear-gradient(to left, var(--paper) 1.5rem, transparent 3rem) right / 3rem 100%,
    linear-gradient(to right, var(--shade), transparent) left / 1rem 100%,
    linear-gradient(to left, var(--shade), transparent) right / 1rem 100%;
  background-attachment: local, local, scroll, scroll; background-repeat: no-repeat;
}
table { border-collapse: collapse; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 1rem 0.25rem 0; border-bottom: 1px solid var(--grid); }
th:last-child, td:last-child { padding-right: 0.25rem; }
thead th { font-size: 0.833rem; color: var(--muted); font-weight: 600; border-bottom-color: var(--rule); vertical-align: bottom; max-width: 14rem; overflow-wrap: break-word; }
tbody th { font-weight: 500; }
tbody th, td:not(.number) { overflow-wrap: break-word; max-width: 28rem; }
tbody :is(th, td):not(.long) { white-space: nowrap; }
.long { min-width: min(12rem, 40vw); }
.number { text-align: right; }
@media (max-width: 59.99em) {
  table { font-size: 0.833rem; }
  th, td { padding-right: 0.75rem; }
  tbody th, td:not(.number) { max-width: min(14rem, 45vw); }
}
summary { cursor: pointer; color: var(--muted); padding: 0.25rem 0; }
section > details > summary { color: var(--ink); }
section > details > summary h2 { display: inline; }
section > details[open] > summary { margin-bottom: 0.5rem; }
figure details .scroll { max-height: 24rem; overflow-y: auto; }

figure { margin: 0; }
figcaption { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem; }
figcaption p, .summary { margin: 0; }
.plot { margin-top: 0.35rem; }
.chart { width: 100%; height: auto; font-family: inherit; }
.chart.wide { display: block; max-width: 48rem; }
.chart.full, .chart.narrow { display: none; }
@media (min-width: 68em) { .main .chart.full { display: block; } .main .chart.wide { display: none; } }
.chart text { fill: var(--muted); }
.chart .halo { stroke: var(--paper); stroke-width: 4; stroke-linejoin: round; paint-order: stroke; }
.grid { stroke: var(--grid); }
.axis { stroke: var(--muted); }
.vertical { stroke: var(--muted); stroke-dasharray: 1 3; }
.column { fill: var(--ink); fill-opacity: 0; } .column:hover { fill-opacity: 0.15; }
.s1 { --c: var(--s1); } .s2 { --c: var(--s2); } .s3 { --c: var(--s3); } .s4 { --c: var(--s4); } .s5 { --c: var(--s5); } .s6 { --c: var(--s6); }
.line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; }
.line.s2 { stroke-dasharray: 7 3; } .line.s3 { stroke-dasharray: 3 2; } .line.s4 { stroke-dasharray: 10 3 2 3; }
.line.s5 { stroke-dasharray: 2 4; } .line.s6 { stroke-dasharray: 5 5; stroke-width: 1.5; }
.line.over { stroke-dasharray: 6 5; }
.line.track { stroke-dasharray: none; stroke-width: 6; stroke-opacity: 0.45; }
.line.limit { stroke-dasharray: 2 3; stroke-width: 1.5; }
.line.dense { stroke-dasharray: none; stroke-width: 1.5; }
.dot { fill: var(--c); print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.stacked { stroke: var(--c); } .swatch .stacked { stroke-width: 12; }
.dot.track { fill-opacity: 0.45; }
.error { fill: none; stroke: var(--ink); stroke-width: 1.5; }
.box { fill: var(--c); fill-opacity: 0.16; stroke: var(--c); }
.whisker { stroke: var(--c); }
.median { stroke: var(--c); stroke-width: 3; }
.dot.run { fill-opacity: 0.55; }
.swatch { vertical-align: middle; flex: none; }
ul.legend { display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin-top: 0.25rem; }

@media (max-width: 37.49em) {
  h1 { font-size: 1.44rem; }
  h2 { font-size: 1.2rem; }
  .facts > div { grid-template-columns: 1fr; }
  .tiles { grid-template-columns: repeat(2, 1fr); }
  th.detail, td.detail, .chart.wide { display: none; }
  .chart.narrow { display: block; }
}
@page { margin: 14mm; }
@media print {
  body { font-size: 10pt; }
  details:not([open]) { display: none; }
  table { font-size: 8pt; }
  thead th { font-size: 7.5pt; }
  th, td { padding-right: 0.5rem; }
  tbody th, td:not(.number) { min-width: 0; max-width: 14rem; }
  section { padding: 0.75rem 0; }
  .rows { display: block; }
  .tiles { grid-template-columns: repeat(auto-fit, minmax(6rem, 1fr)); gap: 0.75rem; }
  .tiles dd:not(.range) { font-size: 1.2rem; }
  .tiles .range { white-space: nowrap; font-size: 7pt; }
  h2, h3 { break-after: avoid; }
  figure, tr, li, .facts, .tiles > div, .note { break-inside: avoid; }
  .verdicts .bars { width: 8rem; }
  .chart.wide { max-width: 34rem; }
  .scroll, figure details .scroll { overflow: visible; max-height: none; background: none; }
}
`;
