import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

serveStdio(() => {
    const server = new McpServer({ name: 'weather', version: '1.0.0' });
    server.registerTool(
        'forecast',
        {
            description: 'Forecasts the weather',
            inputSchema: z.object({
                city: z.string().describe('Name of the city'),
                days: z.number().int().min(0).max(7).default(1).describe('Days from today')
            }),
            outputSchema: z.object({
                celsius: z.number().describe('Temperature at noon'),
                rain: z.boolean()
            }),
            annotations: { readOnlyHint: true }
        },
        ({ city, days }) => {
            const forecast = { celsius: 21.5, rain: city === 'Bergen' && days > 0 };
            return {
                content: [{ type: 'text', text: JSON.stringify(forecast) }],
                structuredContent: forecast
            };
        }
    );
    return server;
});
