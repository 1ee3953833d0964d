//! The comparison as a picture: CPU time per request, each bar as long as the
//! logarithm of its ratio to the limit.

use std::fmt::Write as _;

use crate::report::Report;

pub fn draw(report: &Report) -> String {
    let mut bars = String::new();
    let mut y = TOP;
    for load in report.loads() {
        if load.1 != CONNECTIONS {
            continue;
        }
        let title = format!("{} ({} connections)", load.0, load.1);
        let _ = writeln!(bars, r#"<text x="10" y="{y}" class="title">{title}</text>"#);
        y += 10;
        for server in &report.servers {
            let Some(ratio) = report.ratio(server, &load) else {
                continue;
            };
            let width = 4.0 + ratio.max(1.0).log2() * 70.0;
            let text = y + 13;
            let end = 134.0 + width;
            let _ = writeln!(
                bars,
                r#"<text x="120" y="{text}" text-anchor="end">{server}</text><rect x="128" y="{y}" width="{width:.1}" height="16"/><text x="{end:.1}" y="{text}">{ratio:.2} ×</text>"#
            );
            y += 20;
        }
        y += 24;
    }
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="660" height="{y}" viewBox="0 0 660 {y}" role="img" aria-label="CPU time per request against the limit">
<style>text{{font:12px sans-serif;fill:#333}}.title{{font-weight:bold}}rect{{fill:#3b7ea1}}</style>
<rect width="660" height="{y}" style="fill:#fff"/>
<text x="10" y="20">Server CPU time per request, against bare hyper in the same run (logarithmic; shorter is better)</text>
{bars}</svg>
"#
    )
}

/// The load that is drawn: busy, and not so many that the picture is of queues.
const CONNECTIONS: usize = 64;
const TOP: i32 = 48;
