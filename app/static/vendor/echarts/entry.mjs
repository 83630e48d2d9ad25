// What of Apache ECharts is in echarts.min.js, and how it was made:
//   npm install echarts@6.1.0 esbuild@0.25.12
//   npx esbuild entry.mjs --bundle --minify --format=iife --global-name=echarts --legal-comments=none \
//     --define:process.env.NODE_ENV='"production"' --banner:js="$(cat banner.txt)" --outfile=echarts.min.js
import { init, use } from "echarts/core";
import { BarChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import {
  GridComponent, LegendPlainComponent, MarkLineComponent, TitleComponent, TooltipComponent, VisualMapContinuousComponent,
} from "echarts/components";
import { LabelLayout } from "echarts/features";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";

use([
  BarChart, HeatmapChart, LineChart, ScatterChart, GridComponent, LegendPlainComponent, MarkLineComponent,
  TitleComponent, TooltipComponent, VisualMapContinuousComponent, LabelLayout, CanvasRenderer, SVGRenderer,
]);
export { init };
