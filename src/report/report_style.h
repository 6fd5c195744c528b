// How pages look: the style sheet of report_html.cpp.
//
// Widths of pictures are those of widths_of(). Colours are Okabe and Ito's, darker on light
// pages and lighter on dark ones, so that text in them can be read.
#pragma once

namespace lathe {

inline constexpr const char* page_style = R"css(
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1c1f23; --muted: #5b636d; --line: #d9dde2; --panel: #f4f6f8;
  --cool: #0072b2; --warm: #b95000; --good: #00795a; --grey: #a3abb4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --ink: #e8eaed; --muted: #a4acb6; --line: #343a41; --panel: #1d2126;
    --cool: #56b4e9; --warm: #f08a3c; --good: #2fc298; --grey: #6d7680;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif;
}
main { max-width: 1072px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 8px; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 48px 0 8px; padding-top: 16px; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 0 0 8px; }
p { margin: 0 0 12px; max-width: 46rem; overflow-wrap: anywhere; }
a { color: var(--cool); }
nav { font-size: 0.9rem; margin: 20px 0 0; }
nav a { margin-right: 14px; white-space: nowrap; display: inline-block; }
.kicker { color: var(--muted); font-size: 0.9rem; margin: 0 0 4px; }
.lead { font-size: 1.15rem; max-width: none; }
.note { border-left: 3px solid var(--warm); background: var(--panel); padding: 10px 14px;
  max-width: none; }
.small, figcaption { color: var(--muted); font-size: 0.875rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px;
  margin: 20px 0; }
.tile { background: var(--panel); border-radius: 8px; padding: 12px 14px; min-width: 0; }
.tile b { display: block; font-size: 1.55rem; line-height: 1.25; font-weight: 650; }
.tile span { color: var(--muted); font-size: 0.85rem; display: block; line-height: 1.35; }
.pair { display: grid; grid-template-columns: minmax(0, 1fr); gap: 32px 24px; }
figure { margin: 16px 0 0; min-width: 0; }
figure svg { max-width: 100%; height: auto; display: block; }
figure svg text { font-family: inherit; paint-order: stroke; stroke: var(--page);
  stroke-width: 3px; stroke-linejoin: round; }
.pair > div { margin-top: 16px; min-width: 0; }
figcaption { margin-top: 4px; max-width: 46rem; }
.at508, .at640, .at1040 { display: none; }
@media (min-width: 560px) {
  .half .at328 { display: none; } .half .at508 { display: block; }
}
@media (min-width: 680px) {
  .full .at328 { display: none; } .full .at640 { display: block; }
}
@media (min-width: 1080px) {
  .pair { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .full .at640 { display: none; } .full .at1040 { display: block; }
}
.box { overflow-x: auto; margin: 12px 0; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 0.875rem; }
th, td { text-align: left; padding: 6px 12px; vertical-align: top; }
th { color: var(--muted); font-weight: 600; white-space: nowrap; background: var(--panel); }
tbody tr:first-child td { border-top: 1px solid var(--line); }
td { white-space: nowrap; }
td.wraps { white-space: normal; min-width: 11rem; overflow-wrap: anywhere; }
td.wraps:not(:last-child) { min-width: 17rem; }
td.number + td.wraps { width: 100%; }
td .below { padding-left: 1.05rem; }
td .small { font-size: 0.8125rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  font-size: 0.8125rem; }
code { overflow-wrap: anywhere; }
pre { margin: 0; padding: 10px 12px; overflow-x: auto; background: var(--panel);
  border-radius: 6px; line-height: 1.4; }
.command { white-space: pre-wrap; overflow-wrap: anywhere; }
.next { margin-top: 16px; }
.changed { color: var(--cool); font-weight: 600; }
.chosen { color: var(--warm); font-weight: 600; }
summary { cursor: pointer; }
summary:focus-visible, a:focus-visible, .box:focus-visible {
  outline: 2px solid var(--cool); outline-offset: 2px; }
.kinds { margin-top: 32px; }
.kinds > details { border-top: 1px solid var(--line); padding: 8px 0; }
.kinds > details > summary { overflow-wrap: anywhere; }
.more { display: none; }
tbody:has(details[open]) .more { display: table-row; }
@supports not selector(:has(a)) { .more { display: table-row; } }
.more td { white-space: normal; }
.loops { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 12px;
  min-width: 620px; }
.loops h3 { font-size: 0.8125rem; color: var(--muted); margin: 4px 0; }
@media print { main { max-width: none; } .box { overflow: visible; } }
)css";

}  // namespace lathe
