// terraform-provider-null is what the configurations of public test suites need of the provider of this name: a
// resource that is nothing but an id. The published one is in no module proxy.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func main() {
	options := providerserver.ServeOpts{Address: "registry.terraform.io/hashicorp/null"}
	err := providerserver.Serve(context.Background(), func() provider.Provider { return &null{} }, options)
	if err != nil {
		log.Fatal(err)
	}
}

type null struct{}

func (*null) Metadata(_ context.Context, _ provider.MetadataRequest, response *provider.MetadataResponse) {
	response.TypeName = "null"
}
func (*null) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse)          {}
func (*null) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}
func (*null) DataSources(context.Context) []func() datasource.DataSource                        { return nil }
func (*null) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return &nothing{} }}
}

type nothing struct{}

type model struct {
	ID types.String `tfsdk:"id"`
}

func (*nothing) Metadata(_ context.Context, _ resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = "null_resource"
}
func (*nothing) Schema(_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	response.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed:      true,
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
	}}
}
func (*nothing) Create(ctx context.Context, _ resource.CreateRequest, response *resource.CreateResponse) {
	response.Diagnostics.Append(response.State.Set(ctx, model{ID: types.StringValue("nothing")})...)
}
func (*nothing) Read(context.Context, resource.ReadRequest, *resource.ReadResponse)       {}
func (*nothing) Update(context.Context, resource.UpdateRequest, *resource.UpdateResponse) {}
func (*nothing) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}
